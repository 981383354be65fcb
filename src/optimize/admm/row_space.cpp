#include <omp.h>

#include <algorithm>
#include <map>

#include "core/blas.hpp"
#include "optimize/admm/row_entries.hpp"
#include "optimize/admm/space.hpp"
#include "optimize/problem/items.hpp"
#include "optimize/problem/parallel.hpp"
#include "optimize/proof/piece_borders.hpp"

namespace bregmax::internal {
namespace {

// Rows per ordered pair of pieces that one pass over all rows may add.
constexpr Index kDepth = 8;
constexpr Index kMostLooks = 60;  // passes over all rows in a run
constexpr Index kBlocksAtOnce = 64;

// Takes the losses of the supervision to the positions of a set that has their entries.
struct RowSink {
  EntryCosts& costs;
  std::vector<HingeItem>& coupled;
  Index size;
  std::map<std::pair<Index, Index>, Index> seen = {};

  Index add_linear(Index p, double weight) {
    sized(costs.linear)(p) += weight;
    return p;
  }
  Index add_hinge(Index plus, Index minus, double margin, double weight) {
    if (plus == kNoEntry) {
      sized(costs.hinge)(minus) += weight;
      costs.margin = margin;
      return minus;
    }
    const auto [found, is_new] = seen.try_emplace({plus, minus}, static_cast<Index>(coupled.size()));
    if (is_new) coupled.push_back({plus, minus, margin, 0});
    coupled[at(found->second)].weight += weight;
    return found->second;
  }
  Index add_quadratic(Index p, double weight, double value) {
    sized(costs.quadratic)(p) += weight;
    sized(costs.target)(p) += weight * value;
    return p;
  }

  Vector& sized(Vector& values) const {
    if (values.size() == 0) values.setZero(size);
    return values;
  }
};

// For fewer pieces than rows. The unknowns are few, K (d + 1), and the rows are many, so the set of entries is stored
// compressed, with a copy of the rows that it touches. All other rows are only visited, in blocks, when the set may
// grow (PieceBorders). Equal rows are not merged: unlike an interior point method, ADMM can work with the two
// inequalities that make pieces equal there. Sums are made in chunks of entries, so that threads do not change them.
class RowSpace final : public AdmmSpace {
 public:
  explicit RowSpace(const LearningProblem& problem)
      : problem_(problem),
        units_(canonical_scales(problem)),
        width_(units_.features + 1),
        entries_(problem),
        borders_(problem.pieces, kDepth),
        matrix_(unknowns(), unknowns()) {
    place_supervision();
  }

  const CanonicalProblem& canonical() const override { return units_; }
  Index unknowns() const override { return units_.pieces * width_; }
  Index size() const override { return entries_.size(); }
  const EntryCosts& costs() const override { return costs_; }
  const std::vector<HingeItem>& coupled() const override { return coupled_; }
  void apply(const double* x, double* values) override {
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

  void adjoint(const double* values, double* x) override {
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

  bool factor(const Vector& weight, const Vector& slope_weight, double proximal) override {
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
    // Adding a constant to all offsets changes nothing, so (their sum)^2 gets a weight.
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

  void solve(const double* right, double* x) override {
    std::copy(right, right + unknowns(), x);
    const int n = static_cast<int>(unknowns());
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, matrix_.data(), n, x, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, matrix_.data(), n, x, 1);
  }

  std::vector<Index> grow(const double* x, double limit) override {
    AffinePieces model;
    export_model(units_,
                 {Eigen::Map<const Vector>(x, units_.pieces),
                  Eigen::Map<const Matrix>(x + units_.pieces, units_.pieces, units_.features)},
                 model);
    borders_.find(problem_, model, limit * units_.value_unit,
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

  DualSolution dual_solution(const EntryMultipliers& multipliers) const override {
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

  std::vector<Index> members() const override {
    std::vector<Index> members;
    members.reserve(at(entries_.size()));
    for (const RowEntries::Entry& entry : entries_.entries())
      members.push_back(entry.row * units_.pieces + entry.other);
    return members;
  }

  void set_members(const std::vector<Index>& members) override {
    std::vector<RowEntries::Entry> entries;
    entries.reserve(members.size());
    for (const Index e : members) entries.push_back({e / units_.pieces, e % units_.pieces});
    add(entries);
  }

 private:
  void place_supervision() {
    const auto other_piece = [&](Index point, Index reference) {
      const Index other = problem_.piece_of[at(reference)];
      return problem_.piece_of[at(point)] == other ? kNoEntry : other;
    };
    std::vector<RowEntries::Entry> supervised;
    for_each_item(problem_.supervision, [&](Index, const Item& item) {
      for (const Divergent& d : {item.plus, item.minus}) {
        const Index other = d.exists() ? other_piece(d.point, d.reference) : kNoEntry;
        if (other != kNoEntry) supervised.push_back({d.point, other});
      }
    });
    add(supervised);
    const auto entry_of = [&](Index point, Index reference) {
      const Index other = other_piece(point, reference);
      return other == kNoEntry ? kNoEntry : entries_.position(point, other);
    };
    RowSink sink{costs_, coupled_, size()};
    item_place_ = place_items(problem_.supervision, units_, entry_of, sink, units_.constant);
    // Several targets of one entry act as one at their mean.
    for (Index p = 0; p < costs_.quadratic.size(); ++p) {
      if (costs_.quadratic(p) > 0) costs_.target(p) /= costs_.quadratic(p);
    }
  }

  std::vector<Index> add(const std::vector<RowEntries::Entry>& entries) {
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
  void copy_rows() {
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

  const double* row_at(Index position) const {
    return rows_.data() + slot_[static_cast<std::size_t>(position)] * width_;
  }
  // sum_e weight_e (x_e, 1)(x_e, 1)'.
  Matrix gram(const RowEntries::Chunk& chunk, const Vector& weight) const {
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
  void add_block(Index a, Index b, double sign, const Matrix& block) {
    if (a < b) std::swap(a, b);
    const Index d = units_.features, slope_a = units_.pieces + a * d, slope_b = units_.pieces + b * d;
    matrix_(a, b) += sign * block(d, d);
    matrix_.block(slope_a, slope_b, d, d) += sign * block.topLeftCorner(d, d);
    matrix_.block(slope_a, b, d, 1) += sign * block.block(0, d, d, 1);
    if (a != b) matrix_.block(slope_b, a, d, 1) += sign * block.block(0, d, d, 1);
  }

  const LearningProblem& problem_;
  CanonicalProblem units_;
  Index width_;  // features + 1
  RowEntries entries_;
  PieceBorders borders_;
  EntryCosts costs_;
  std::vector<HingeItem> coupled_;
  std::vector<ItemPlace> item_place_;  // index: position, or coupled hinge

  Matrix rows_;              // of the set, in canonical units, each followed by a 1
  std::vector<Index> slot_;  // of each entry in rows_
  Matrix chunk_vector_;      // width_ numbers per chunk
  Matrix matrix_;            // its lower triangle: block one, then its Cholesky factor
};

}  // namespace

std::unique_ptr<AdmmSpace> make_row_space(const LearningProblem& problem) {
  return std::make_unique<RowSpace>(problem);
}

double predict_row_memory(const LearningProblem& problem) {
  constexpr double kBytesAnEntry = 250, kBytesAnItem = 120, kBytesAComparison = 300;
  const auto rows = static_cast<double>(problem.points.rows()), width = static_cast<double>(problem.points.cols()) + 1;
  const double pieces = problem.pieces, unknowns = pieces * width, pairs = pieces * pieces;
  const auto items = static_cast<double>(item_count(problem.supervision));
  const bool comparisons = std::holds_alternative<Comparisons>(problem.supervision);
  // The supervised entries, and those that passes over all rows may add.
  const double supervised = items * (comparisons ? 2 : 1);
  const double entries = std::min(rows * pieces, supervised + kMostLooks * kDepth * pairs);
  const double threads = 1 + omp_get_max_threads();
  return 8 * unknowns * unknowns + kBytesAnEntry * entries + 8 * width * std::min(rows, entries) +
         (comparisons ? kBytesAComparison : kBytesAnItem) * items + pairs * (8 + threads * (8 + 16 * kDepth));
}

}  // namespace bregmax::internal
