#include "optimize/admm/space.hpp"

#include <omp.h>

#include <algorithm>

#include "core/cholesky.hpp"
#include "core/products.hpp"
#include "optimize/admm/row_entries.hpp"
#include "optimize/admm/state.hpp"
#include "optimize/problem/divergence_grid.hpp"
#include "optimize/problem/factorization.hpp"
#include "optimize/problem/items.hpp"
#include "optimize/problem/parallel.hpp"
#include "optimize/proof/piece_borders.hpp"

namespace bregmax::internal {
namespace {

// The multipliers of the items. The entries of `single` are positions.
DualPoint item_point(const EntryMultipliers& multipliers, const std::vector<HingeItem>& single) {
  DualPoint point;
  point.divergence = multipliers.divergence;
  point.coupled = multipliers.coupled;
  point.single.resize(std::ssize(single));
  for (std::size_t t = 0; t < single.size(); ++t) point.single(t) = multipliers.hinge(single[t].minus);
  return point;
}

// The weight of the hinges of each entry; empty: all are zero.
Vector hinge_weights(const std::vector<HingeItem>& single, Index entries) {
  Vector weights = Vector::Zero(single.empty() ? 0 : entries);
  for (const HingeItem& item : single) weights(item.minus) += item.weight;
  return weights;
}

// The flat values of the members of the set; empty: all are zero.
Vector gather(const EntrySet& entries, const Vector& flat) {
  Vector values(flat.size() > 0 ? entries.size() : 0);
  for (Index p = 0; p < values.size(); ++p) values(p) = flat(entries.entry(p));
  return values;
}

// With the working set and the factorizations of `problem`. Flat arrays are indexed by entry of the whole grid.
class CanonicalSpace final : public AdmmSpace {
 public:
  explicit CanonicalSpace(const LearningProblem& problem)
      : given_(problem), kind_of_entry_(problem_.entries(), EntryKind::kFree) {
    if (!problem_.single.empty()) costs_.margin = problem_.single.front().margin;
    for (const Index e : problem_.zero_entries) kind_of_entry_[e] = EntryKind::kZero;
    for (const Index e : problem_.equality_entries) kind_of_entry_[e] = EntryKind::kEqual;
    const bool dense = !problem_.all_anchored || unknowns() < kAlwaysDenseUnknowns;
    factorization_ =
        dense ? make_dense_factorization(problem_, entries_) : make_arrow_factorization(problem_, entries_);
    weights_.lipschitz = 1;  // L is not an unknown of block one
    after_growth();
  }

  const CanonicalUnits& units() const override { return problem_; }
  Index unknowns() const override { return problem_.z_count + problem_.pieces * problem_.features + 1; }
  Index size() const override { return entries_.size(); }
  const EntryCosts& costs() const override { return costs_; }
  const std::vector<HingeItem>& coupled() const override { return coupled_; }
  void apply(const double* x, double* values) override { grid_.apply(x, x + problem_.z_count, values); }
  void adjoint(const double* values, double* x) override { grid_.adjoint(values, x, x + problem_.z_count); }
  bool factor(const Vector& weight, const Vector& slope_weight, double proximal) override {
    weights_.grid.head(weight.size()) = weight;
    weights_.slope_diagonal.colwise() = slope_weight;
    weights_.proximal = proximal;
    return factorization_->factor(weights_);
  }

  void solve(const double* right, double* x) override { factorization_->solve(right, x); }
  std::vector<Index> grow(const double* x, double limit) override {
    if (entries_.complete()) return {};
    Vector everywhere(problem_.entries());
    grid_.apply_everywhere(x, x + problem_.z_count, everywhere.data());
    std::vector<Index> before = members();
    bool added = false;
    for (Index e = 0; e < problem_.entries(); ++e) {
      if (everywhere(e) < limit && kind_of_entry_[e] != EntryKind::kZero && !entries_.contains(e)) {
        entries_.add(e);
        added = true;
      }
    }
    if (!added) return {};
    entries_.renumber();
    after_growth();
    for (Index& entry : before) entry = entries_.position(entry);
    return before;
  }

  std::vector<Index> members() const override {
    std::vector<Index> members(entries_.size());
    for (Index p = 0; p < entries_.size(); ++p) members[p] = entries_.entry(p);
    return members;
  }

  void set_members(const std::vector<Index>& members) override {
    for (const Index e : members) entries_.add(e);
    entries_.renumber();
    after_growth();
  }

  DualSolution dual_solution(const EntryMultipliers& multipliers) const override {
    std::vector<HingeItem> single = problem_.single;
    for (HingeItem& item : single) item.minus = entries_.position(item.minus);
    DualPoint dual = item_point(multipliers, single);
    dual.entries.setZero(problem_.entries());
    dual.divergence.setZero(problem_.entries());
    for (Index p = 0; p < entries_.size(); ++p) {
      if (costs_.kind_of(p) != EntryKind::kFree) continue;
      dual.entries(entries_.entry(p)) = multipliers.convexity(p);
      if (problem_.has_quadratic) dual.divergence(entries_.entry(p)) = multipliers.divergence(p);
    }
    dual.equality.resize(std::ssize(problem_.equality_entries));
    for (std::size_t q = 0; q < problem_.equality_entries.size(); ++q) {
      dual.equality(q) = multipliers.convexity(entries_.position(problem_.equality_entries[q]));
    }
    Solution solution;
    export_dual(given_, problem_, dual, solution);
    return std::move(solution.dual);
  }

 private:
  void after_growth() {
    costs_.linear = gather(entries_, problem_.linear);
    costs_.hinge = gather(entries_, hinge_of_entry_);
    costs_.quadratic = gather(entries_, problem_.quadratic);
    costs_.target = gather(entries_, problem_.target);
    costs_.kind.resize(entries_.size());
    for (Index p = 0; p < entries_.size(); ++p) costs_.kind[p] = kind_of_entry_[entries_.entry(p)];
    set_distances();
    coupled_ = problem_.coupled;
    for (HingeItem& item : coupled_) {
      item.plus = entries_.position(item.plus);
      item.minus = entries_.position(item.minus);
    }
  }

  void set_distances() {
    constexpr double kLeast = 1e-4;
    costs_.distance.resize(entries_.size());
    for (Index p = 0; p < entries_.size(); ++p) {
      const Index piece = entries_.entry(p) / problem_.locations, there = entries_.entry(p) % problem_.locations;
      costs_.distance(p) = (problem_.location.row(there) - problem_.anchor.row(piece)).norm();
    }
    const double mean = costs_.distance.size() > 0 ? costs_.distance.mean() : 0;
    costs_.distance = (costs_.distance / std::max(mean, 1e-300)).cwiseMax(kLeast).cwiseMin(1.0);
  }

  const LearningProblem& given_;
  CanonicalProblem problem_ = canonicalize(given_);
  EntrySet entries_{problem_};
  DivergenceGrid grid_{problem_, entries_};
  std::unique_ptr<Factorization> factorization_;
  NormalWeights weights_{problem_};
  Vector hinge_of_entry_ = hinge_weights(problem_.single, problem_.entries());  // flat
  std::vector<EntryKind> kind_of_entry_;                                        // flat
  EntryCosts costs_;
  std::vector<HingeItem> coupled_;
};

// Rows per ordered pair of pieces that one pass over all rows may add. There is a pass at each change of penalties.
constexpr Index kDepth = 8;
constexpr Index kBlocksAtOnce = 64;

// For fewer pieces than rows: few unknowns, K (d + 1), and many rows. The set of entries is stored compressed, with a
// copy of the rows that it touches. All other rows are visited in blocks when the set may grow (PieceBorders). Equal
// rows are not merged, since ADMM needs no interior. Sums are made in chunks of entries, so that threads do not change
// them.
class RowSpace final : public AdmmSpace {
 public:
  explicit RowSpace(const LearningProblem& problem)
      : problem_(problem), entries_(problem), borders_(problem.pieces, kDepth) {
    place_supervision();
  }

  const CanonicalUnits& units() const override { return units_; }
  Index unknowns() const override { return units_.pieces * width_; }
  Index size() const override { return entries_.size(); }
  const EntryCosts& costs() const override { return costs_; }
  const std::vector<HingeItem>& coupled() const override { return losses_.coupled; }
  void apply(const double* x, double* values) override {
    const Eigen::Map<const Matrix> slopes(x + units_.pieces, units_.pieces, units_.features);
    for_each_chunk([&](const RowEntries::Chunk& chunk, auto difference) {
      difference.head(units_.features) = slopes.row(chunk.own) - slopes.row(chunk.other);
      difference(units_.features) = x[chunk.own] - x[chunk.other];
      for (Index p = chunk.begin; p < chunk.end; ++p) values[p] = difference.dot(row_at(p));
    });
  }

  void adjoint(const double* values, double* x) override {
    for_each_chunk([&](const RowEntries::Chunk& chunk, auto sum) {
      sum.setZero();
      for (Index p = chunk.begin; p < chunk.end; ++p) sum += values[p] * row_at(p);
    });
    std::fill(x, x + unknowns(), 0.0);
    Eigen::Map<Matrix> slopes(x + units_.pieces, units_.pieces, units_.features);
    for (Index c = 0; c < chunk_vector_.rows(); ++c) {
      const RowEntries::Chunk& chunk = entries_.chunks()[c];
      const auto sum = chunk_vector_.row(c);
      slopes.row(chunk.own) += sum.head(units_.features);
      slopes.row(chunk.other) -= sum.head(units_.features);
      x[chunk.own] += sum(units_.features);
      x[chunk.other] -= sum(units_.features);
    }
  }

  bool factor(const Vector& weight, const Vector& slope_weight, double proximal) override {
    matrix_.setZero();
    const Index chunks = std::ssize(entries_.chunks());
    std::vector<Matrix> blocks(std::min(chunks, kBlocksAtOnce));
    for (Index first = 0; first < chunks; first += kBlocksAtOnce) {
      const Index count = std::min(kBlocksAtOnce, chunks - first);
#pragma omp parallel for schedule(dynamic) if (size() > kLeastParallel)
      for (Index c = 0; c < count; ++c) blocks[c] = gram(entries_.chunks()[first + c], weight);
      for (Index c = 0; c < count; ++c) {
        const RowEntries::Chunk& chunk = entries_.chunks()[first + c];
        add_block(chunk.own, chunk.own, 1, blocks[c]);
        add_block(chunk.other, chunk.other, 1, blocks[c]);
        add_block(chunk.own, chunk.other, -1, blocks[c]);
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
    return cholesky_.factor(matrix_.data(), unknowns(), unknowns());
  }

  void solve(const double* right, double* x) override {
    std::copy(right, right + unknowns(), x);
    for (const bool transposed : {false, true}) solve_lower(matrix_, unknowns(), transposed, x);
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
      const double value = multipliers.convexity(p) * entry_unit;
      if (value > 0) dual.entries.push_back({entries[p].row, entries[p].other, value});
    }
    dual.items = item_multipliers(problem_.supervision, units_, losses_, item_point(multipliers, losses_.single));
    return dual;
  }

  std::vector<Index> members() const override {
    std::vector<Index> members;
    for (const RowEntries::Entry& entry : entries_.entries()) {
      members.push_back(entry.row * units_.pieces + entry.other);
    }
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
      const Index other = problem_.piece_of[reference];
      return problem_.piece_of[point] == other ? kNoEntry : other;
    };
    std::vector<RowEntries::Entry> supervised;
    for_each_item(problem_.supervision, [&](Index, const Item& item) {
      for (const DivergenceTerm& d : {item.plus, item.minus}) {
        const Index other = d.exists() ? other_piece(d.point, d.reference) : kNoEntry;
        if (other != kNoEntry) supervised.push_back({d.point, other});
      }
    });
    add(supervised);
    const auto entry_of = [&](Index point, Index reference) {
      const Index other = other_piece(point, reference);
      return other == kNoEntry ? kNoEntry : entries_.position(point, other);
    };
    losses_ = place_losses(problem_.supervision, size(), entry_of, units_);
    costs_.linear = std::move(losses_.linear);
    costs_.hinge = hinge_weights(losses_.single, size());
    if (!losses_.single.empty()) costs_.margin = losses_.single.front().margin;
    costs_.quadratic = std::move(losses_.quadratic);
    costs_.target = std::move(losses_.target);
  }

  std::vector<Index> add(const std::vector<RowEntries::Entry>& entries) {
    std::vector<Index> moved_to = entries_.add(entries);
    for (Vector* costs : {&costs_.linear, &costs_.hinge, &costs_.quadratic, &costs_.target}) {
      if (costs->size() == 0) continue;
      const Vector before = std::move(*costs);
      costs->setZero(entries_.size());
      for (std::size_t q = 0; q < moved_to.size(); ++q) (*costs)(moved_to[q]) = before(q);
    }
    for (auto* hinges : {&losses_.single, &losses_.coupled}) {
      for (HingeItem& item : *hinges) {
        if (item.plus != kNoEntry) item.plus = moved_to[item.plus];
        item.minus = moved_to[item.minus];
      }
    }
    for (ItemPlace& place : losses_.item_place) {
      if (place.kind == ItemPlace::Kind::kQuadratic) place.index = moved_to[place.index];
    }
    copy_rows();
    return moved_to;
  }

  // The rows of the set in the order of their pieces: entries that are worked on together are near each other.
  void copy_rows() {
    std::vector<Index> rows(entries_.size());
    for (Index p = 0; p < entries_.size(); ++p) rows[p] = entries_.row(p);
    const auto by_piece = [&](Index a, Index b) {
      const int piece_a = problem_.piece_of[a], piece_b = problem_.piece_of[b];
      return piece_a != piece_b ? piece_a < piece_b : a < b;
    };
    std::sort(rows.begin(), rows.end(), by_piece);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    rows_.setOnes(std::ssize(rows), width_);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows_.row(r).head(units_.features) = to_canonical(units_, problem_, rows[r]).transpose();
    }
    slot_.resize(entries_.size());
    for (Index p = 0; p < entries_.size(); ++p) {
      slot_[p] = std::lower_bound(rows.begin(), rows.end(), entries_.row(p), by_piece) - rows.begin();
    }
    chunk_vector_.resize(std::ssize(entries_.chunks()), width_);
  }

  Matrix::ConstRowXpr row_at(Index position) const { return rows_.row(slot_[position]); }

  // Calls each(chunk, room for width_ numbers) on several threads.
  template <class Each>
  void for_each_chunk(const Each& each) {
#pragma omp parallel for schedule(dynamic, 32) if (size() > kLeastParallel)
    for (Index c = 0; c < chunk_vector_.rows(); ++c) each(entries_.chunks()[c], chunk_vector_.row(c));
  }

  // sum_e weight_e (x_e, 1)(x_e, 1)'.
  Matrix gram(const RowEntries::Chunk& chunk, const Vector& weight) const {
    const Index count = chunk.end - chunk.begin;
    Matrix rows(width_, count), product(width_, width_);
    for (Index i = 0; i < count; ++i) rows.col(i) = row_at(chunk.begin + i).transpose();
    const Matrix weighted = rows * weight.segment(chunk.begin, count).asDiagonal();
    set_product_transposed(rows, weighted, product);
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
  CanonicalUnits units_ = canonical_units(problem_);
  PlacedLosses losses_;  // on positions
  Index width_ = units_.features + 1;
  RowEntries entries_;
  PieceBorders borders_;
  EntryCosts costs_;

  Matrix rows_;              // of the set, in canonical units, each followed by a 1
  std::vector<Index> slot_;  // of each entry in rows_
  Matrix chunk_vector_;      // width_ numbers per chunk
  // In the lower triangle: the matrix of block one, then its Cholesky factor.
  Matrix matrix_ = Matrix(unknowns(), unknowns());
  Cholesky cholesky_{unknowns()};
};

}  // namespace

std::unique_ptr<AdmmSpace> make_canonical_space(const LearningProblem& problem) {
  return std::make_unique<CanonicalSpace>(problem);
}

double predict_canonical_memory(const LearningProblem& problem) {
  const auto rows = static_cast<double>(problem.points.rows()), features = static_cast<double>(problem.points.cols());
  const double pieces = problem.pieces, grid = rows * pieces, slopes = pieces * features;
  const auto items = static_cast<double>(item_count(problem.supervision));
  const bool targets = std::holds_alternative<Targets>(problem.supervision);
  // Flat arrays of the canonical problem and the set, the copies of a set that may become all, the multipliers of two
  // proofs, and a correction of multipliers; the factorization; the items.
  const double arrays = grid * 8 * (targets ? 31 : 26);
  return arrays + 8 * (slopes + pieces) * (pieces + 1) + 8 * slopes * (features + 12) + items * 200 +
         16 * rows * features;
}

std::unique_ptr<AdmmSpace> make_row_space(const LearningProblem& problem) {
  return std::make_unique<RowSpace>(problem);
}

double predict_row_memory(const LearningProblem& problem) {
  constexpr double kBytesPerEntry = 250, kBytesPerItem = 120, kBytesPerComparison = 300;
  const auto rows = static_cast<double>(problem.points.rows()), width = static_cast<double>(problem.points.cols()) + 1;
  const double pieces = problem.pieces, unknowns = pieces * width, pairs = pieces * pieces;
  const auto items = static_cast<double>(item_count(problem.supervision));
  const bool comparisons = std::holds_alternative<Comparisons>(problem.supervision);
  // The supervised entries, and those that passes over all rows may add.
  const double supervised = items * (comparisons ? 2 : 1);
  const double entries = std::min(rows * pieces, supervised + PenaltySchedule::kMostChanges * kDepth * pairs);
  const double threads = 1 + omp_get_max_threads();
  return 8 * unknowns * unknowns + kBytesPerEntry * entries + 8 * width * std::min(rows, entries) +
         (comparisons ? kBytesPerComparison : kBytesPerItem) * items + pairs * (8 + threads * (8 + 16 * kDepth));
}

}  // namespace bregmax::internal
