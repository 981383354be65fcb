#include "optimize/admm/row_space.hpp"

#include <omp.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/blas.hpp"
#include "optimize/problem/at.hpp"
#include "optimize/problem/item_places.hpp"
#include "optimize/problem/parallel.hpp"

namespace bregmax::internal {

namespace {

// Rows of an ordered pair of pieces that a look at all rows may add.
constexpr Index kDepth = 8;
constexpr Index kMostLooks = 60;  // of a run
constexpr Index kBlocksAtOnce = 64;

using EntryKey = std::pair<Index, Index>;

}  // namespace

// Takes the losses of the supervision to the positions of a set that has their entries.
class RowSink {
 public:
  explicit RowSink(RowSpace& space) : space_(space) {}

  Index add_linear(Index p, double weight) {
    sized(space_.costs_.linear)(p) += weight;
    return p;
  }
  Index add_hinge(Index plus, Index minus, double margin, double weight) {
    if (plus == kNoEntry) {
      sized(space_.costs_.hinge)(minus) += weight;
      space_.costs_.margin = margin;
      return minus;
    }
    auto& list = space_.coupled_;
    const auto [found, is_new] = seen_.try_emplace({plus, minus}, static_cast<Index>(list.size()));
    if (is_new) list.push_back({plus, minus, margin, 0});
    list[at(found->second)].weight += weight;
    return found->second;
  }
  Index add_quadratic(Index p, double weight, double value) {
    sized(space_.costs_.quadratic)(p) += weight;
    sized(space_.costs_.target)(p) += weight * value;
    return p;
  }

 private:
  Vector& sized(Vector& costs) const {
    if (costs.size() == 0) costs.setZero(space_.size());
    return costs;
  }
  RowSpace& space_;
  std::map<EntryKey, Index> seen_;
};

RowSpace::RowSpace(const LearningProblem& problem)
    : problem_(problem),
      units_(canonical_scales(problem)),
      width_(units_.features + 1),
      entries_(problem),
      borders_(problem.pieces, kDepth),
      matrix_(unknowns(), unknowns()) {
  units_.z_count = units_.pieces;
  units_.z_of_piece.resize(at(units_.pieces));
  std::iota(units_.z_of_piece.begin(), units_.z_of_piece.end(), Index{0});
  units_.anchor.setZero(units_.pieces, units_.features);
  place_items();
}

void RowSpace::place_items() {
  std::vector<RowEntries::Entry> supervised;
  const auto name = [&](Index point, Index reference) {
    const Index other = problem_.piece_of[at(reference)];
    if (problem_.piece_of[at(point)] != other) supervised.push_back({point, other});
  };
  if (const auto* comparisons = std::get_if<Comparisons>(&problem_.supervision)) {
    for (const Comparison& c : *comparisons) {
      name(c.i, c.j);
      name(c.k, c.l);
    }
  } else if (is_pairs(problem_.supervision)) {
    for_each_pair(problem_.supervision, [&](const Pair& p) { name(p.i, p.j); });
  } else {
    for (const Target& t : std::get<Targets>(problem_.supervision)) name(t.i, t.j);
  }
  add(supervised);
  const auto entry_of = [&](Index point, Index reference) {
    const Index other = problem_.piece_of[at(reference)];
    return problem_.piece_of[at(point)] == other ? kNoEntry : entries_.position(point, other);
  };
  RowSink sink(*this);
  item_place_ = std::visit(ItemSorter(units_, entry_of, sink, units_.constant), problem_.supervision);
  // The targets of one entry are one, at their mean.
  for (Index p = 0; p < costs_.quadratic.size(); ++p) {
    if (costs_.quadratic(p) > 0) costs_.target(p) /= costs_.quadratic(p);
  }
}

std::vector<Index> RowSpace::add(const std::vector<RowEntries::Entry>& entries) {
  std::vector<Index> moved_to = entries_.add(entries);
  for (Vector* costs : {&costs_.linear, &costs_.hinge, &costs_.quadratic, &costs_.target}) {
    if (costs->size() == 0) continue;
    const Vector before = std::move(*costs);
    costs->setZero(entries_.size());
    for (std::size_t q = 0; q < moved_to.size(); ++q) (*costs)(moved_to[q]) = before(static_cast<Index>(q));
  }
  for (HingeItem& item : coupled_) {
    item.plus = moved_to[at(item.plus)];
    item.minus = moved_to[at(item.minus)];
  }
  for (ItemPlace& place : item_place_) {
    const bool of_entry = place.kind != ItemPlace::Kind::kCoupledHinge && place.kind != ItemPlace::Kind::kConstant;
    if (of_entry) place.index = moved_to[at(place.index)];
  }
  copy_rows();
  return moved_to;
}

// The rows of the set in the order of their pieces: entries that are worked on together are near each other.
void RowSpace::copy_rows() {
  std::vector<Index> rows(at(entries_.size()));
  for (Index p = 0; p < entries_.size(); ++p) rows[at(p)] = entries_.row(p);
  const auto by_piece = [&](Index a, Index b) {
    const int piece_a = problem_.piece_of[at(a)], piece_b = problem_.piece_of[at(b)];
    return piece_a != piece_b ? piece_a < piece_b : a < b;
  };
  std::sort(rows.begin(), rows.end(), by_piece);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  rows_.setOnes(static_cast<Index>(rows.size()), width_);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows_.row(static_cast<Index>(r)).head(units_.features) = to_canonical(units_, problem_, rows[r]).transpose();
  }
  slot_.resize(at(entries_.size()));
  for (Index p = 0; p < entries_.size(); ++p) {
    slot_[at(p)] = std::lower_bound(rows.begin(), rows.end(), entries_.row(p), by_piece) - rows.begin();
  }
  chunk_vector_.resize(static_cast<Index>(entries_.chunks().size()), width_);
}

void RowSpace::apply(const double* x, double* values) {
  const Eigen::Map<const Matrix> slopes(x + units_.pieces, units_.pieces, units_.features);
  const auto chunks = static_cast<Index>(entries_.chunks().size());
#pragma omp parallel for schedule(dynamic, 32) if (size() > kLeastParallel)
  for (Index c = 0; c < chunks; ++c) {
    const RowEntries::Chunk& chunk = entries_.chunks()[at(c)];
    auto difference = chunk_vector_.row(c);
    difference.head(units_.features) = slopes.row(chunk.own) - slopes.row(chunk.other);
    difference(units_.features) = x[chunk.own] - x[chunk.other];
    for (Index p = chunk.begin; p < chunk.end; ++p) {
      values[p] = difference.dot(Eigen::Map<const Eigen::RowVectorXd>(row_at(p), width_));
    }
  }
}

void RowSpace::adjoint(const double* values, double* x) {
  const auto chunks = static_cast<Index>(entries_.chunks().size());
#pragma omp parallel for schedule(dynamic, 32) if (size() > kLeastParallel)
  for (Index c = 0; c < chunks; ++c) {
    const RowEntries::Chunk& chunk = entries_.chunks()[at(c)];
    auto sum = chunk_vector_.row(c);
    sum.setZero();
    for (Index p = chunk.begin; p < chunk.end; ++p) {
      sum += values[p] * Eigen::Map<const Eigen::RowVectorXd>(row_at(p), width_);
    }
  }
  std::fill(x, x + unknowns(), 0.0);
  Eigen::Map<Matrix> slopes(x + units_.pieces, units_.pieces, units_.features);
  for (Index c = 0; c < chunks; ++c) {
    const RowEntries::Chunk& chunk = entries_.chunks()[at(c)];
    slopes.row(chunk.own) += chunk_vector_.row(c).head(units_.features);
    slopes.row(chunk.other) -= chunk_vector_.row(c).head(units_.features);
    x[chunk.own] += chunk_vector_(c, units_.features);
    x[chunk.other] -= chunk_vector_(c, units_.features);
  }
}

// sum_e weight_e (x_e, 1)(x_e, 1)'.
Matrix RowSpace::gram(const RowEntries::Chunk& chunk, const Vector& weight) const {
  const Index count = chunk.end - chunk.begin;
  Matrix rows(count, width_), weighted(count, width_), product(width_, width_);
  for (Index i = 0; i < count; ++i) {
    rows.row(i) = Eigen::Map<const Eigen::RowVectorXd>(row_at(chunk.begin + i), width_);
    weighted.row(i) = weight(chunk.begin + i) * rows.row(i);
  }
  product.noalias() = rows.transpose() * weighted;
  return product;
}

// A symmetric block where the unknowns of pieces a and b meet.
void RowSpace::add_block(Index a, Index b, double sign, const Matrix& block) {
  if (a < b) std::swap(a, b);
  const Index d = units_.features, slope_a = units_.pieces + a * d, slope_b = units_.pieces + b * d;
  matrix_(a, b) += sign * block(d, d);
  matrix_.block(slope_a, slope_b, d, d) += sign * block.topLeftCorner(d, d);
  matrix_.block(slope_a, b, d, 1) += sign * block.block(0, d, d, 1);
  if (a != b) matrix_.block(slope_b, a, d, 1) += sign * block.block(0, d, d, 1);
}

bool RowSpace::factor(const Vector& weight, const Vector& slope_weight, double proximal) {
  matrix_.setZero();
  const auto chunks = static_cast<Index>(entries_.chunks().size());
  std::vector<Matrix> blocks(at(std::min(chunks, kBlocksAtOnce)));
  for (Index first = 0; first < chunks; first += kBlocksAtOnce) {
    const Index count = std::min(kBlocksAtOnce, chunks - first);
#pragma omp parallel for schedule(dynamic) if (size() > kLeastParallel)
    for (Index c = 0; c < count; ++c) blocks[at(c)] = gram(entries_.chunks()[at(first + c)], weight);
    for (Index c = 0; c < count; ++c) {
      const RowEntries::Chunk& chunk = entries_.chunks()[at(first + c)];
      add_block(chunk.own, chunk.own, 1, blocks[at(c)]);
      add_block(chunk.other, chunk.other, 1, blocks[at(c)]);
      add_block(chunk.own, chunk.other, -1, blocks[at(c)]);
    }
  }
  const Index pieces = units_.pieces;
  // Adding a constant to all offsets changes nothing: (their sum)^2 gets a weight.
  const double ground = (weight.size() > 0 ? weight.mean() : 0) + proximal + 1e-12;
  matrix_.topLeftCorner(pieces, pieces).array() += ground / static_cast<double>(pieces);
  for (Index k = 0; k < pieces; ++k) {
    matrix_.diagonal().segment(pieces + k * units_.features, units_.features).array() += slope_weight(k);
  }
  matrix_.diagonal().array() += proximal;
  const int n = static_cast<int>(unknowns());
  int info = 0;
  dpotrf_("U", &n, matrix_.data(), &n, &info);  // row-major lower = column-major upper
  return info == 0;
}

void RowSpace::solve(const double* right, double* x) {
  std::copy(right, right + unknowns(), x);
  const int n = static_cast<int>(unknowns());
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, matrix_.data(), n, x, 1);
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, matrix_.data(), n, x, 1);
}

std::vector<Index> RowSpace::grow(const double* x, double limit) {
  Solution model;
  model.slopes.setZero(problem_.pieces, problem_.points.cols());
  export_model(units_,
               {Eigen::Map<const Vector>(x, units_.pieces),
                Eigen::Map<const Matrix>(x + units_.pieces, units_.pieces, units_.features)},
               model);
  borders_.find(problem_, {std::move(model.slopes), std::move(model.offsets)}, limit * units_.value_unit,
                [&](Index row, Index other) { return entries_.position(row, other) != kNoEntry; });
  std::vector<RowEntries::Entry> low;
  for (Index own = 0; own < units_.pieces; ++own) {
    for (Index other = 0; other < units_.pieces; ++other) {
      for (Index rank = 0; rank < borders_.depth() && borders_.row(own, other, rank).row >= 0; ++rank) {
        low.push_back({borders_.row(own, other, rank).row, other});
      }
    }
  }
  return low.empty() ? std::vector<Index>{} : add(low);
}

DualSolution RowSpace::dual_solution(const EntryMultipliers& multipliers) const {
  const double entry_unit = units_.objective_unit / units_.value_unit;
  DualSolution dual;
  const std::vector<RowEntries::Entry> entries = entries_.entries();
  for (std::size_t p = 0; p < entries.size(); ++p) {
    const double value = multipliers.convexity(static_cast<Index>(p)) * entry_unit;
    if (value > 0) dual.entries.push_back({entries[p].row, entries[p].other, value});
  }
  const auto fraction = [&](const ItemPlace& place) {
    if (place.kind == ItemPlace::Kind::kCoupledHinge) {
      return multipliers.coupled(place.index) / coupled_[at(place.index)].weight;
    }
    return multipliers.hinge(place.index) / costs_.hinge(place.index);
  };
  const auto divergence = [&](const ItemPlace& place) {
    const double weight = costs_.quadratic(place.index);
    if (!(weight > 0)) return 0.0;
    return units_.value_unit * (multipliers.quadratic_slope(place.index) / (2 * weight) + costs_.target(place.index));
  };
  dual.items = item_multipliers(problem_.supervision, item_place_, fraction, divergence);
  return dual;
}

std::vector<Index> RowSpace::members() const {
  std::vector<Index> members;
  members.reserve(at(entries_.size()));
  for (const RowEntries::Entry& entry : entries_.entries()) members.push_back(entry.row * units_.pieces + entry.other);
  return members;
}

void RowSpace::set_members(const std::vector<Index>& members) {
  std::vector<RowEntries::Entry> entries;
  entries.reserve(members.size());
  for (const Index e : members) entries.push_back({e / units_.pieces, e % units_.pieces});
  add(entries);
}

std::unique_ptr<AdmmSpace> make_row_space(const LearningProblem& problem) {
  return std::make_unique<RowSpace>(problem);
}

double predict_row_memory(const LearningProblem& problem) {
  constexpr double kBytesAnEntry = 250, kBytesAnItem = 120, kBytesAComparison = 300;
  const auto rows = static_cast<double>(problem.points.rows()), width = static_cast<double>(problem.points.cols()) + 1;
  const double pieces = problem.pieces, unknowns = pieces * width, pairs = pieces * pieces;
  const auto items = static_cast<double>(item_count(problem.supervision));
  const bool comparisons = std::holds_alternative<Comparisons>(problem.supervision);
  // What is named by the supervision, and what the looks at all rows may add.
  const double supervised = items * (comparisons ? 2 : 1);
  const double entries = std::min(rows * pieces, supervised + kMostLooks * kDepth * pairs);
  const double threads = 1 + omp_get_max_threads();
  return 8 * unknowns * unknowns + kBytesAnEntry * entries + 8 * width * std::min(rows, entries) +
         (comparisons ? kBytesAComparison : kBytesAnItem) * items + pairs * (8 + threads * (8 + 16 * kDepth));
}

}  // namespace bregmax::internal
