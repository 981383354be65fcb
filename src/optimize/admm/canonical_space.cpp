#include <algorithm>
#include <memory>
#include <vector>

#include "optimize/admm/space.hpp"
#include "optimize/problem/at.hpp"
#include "optimize/problem/divergence_grid.hpp"
#include "optimize/problem/entry_set.hpp"
#include "optimize/problem/factorization.hpp"

namespace bregmax::internal {
namespace {

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
      : given_(problem),
        problem_(canonicalize(problem)),
        entries_(problem_),
        grid_(problem_, entries_),
        weights_(problem_),
        hinge_of_entry_(Vector::Zero(problem_.single.empty() ? 0 : problem_.entries())),
        kind_of_entry_(at(problem_.entries()), EntryKind::kFree) {
    for (const HingeItem& item : problem_.single) {
      hinge_of_entry_(item.minus) += item.weight;
      costs_.margin = item.margin;
    }
    for (const Index e : problem_.zero_entries) kind_of_entry_[at(e)] = EntryKind::kZero;
    for (const Index e : problem_.equality_entries) kind_of_entry_[at(e)] = EntryKind::kEqual;
    const bool dense = !problem_.all_anchored || unknowns() < kAlwaysDenseUnknowns;
    factorization_ =
        dense ? make_dense_factorization(problem_, entries_) : make_arrow_factorization(problem_, entries_);
    weights_.lipschitz = 1;  // L is not an unknown of block one
    after_growth();
  }

  const CanonicalProblem& canonical() const override { return problem_; }
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
      if (everywhere(e) < limit && kind_of_entry_[at(e)] != EntryKind::kZero && !entries_.contains(e)) {
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
    std::vector<Index> members(at(entries_.size()));
    for (Index p = 0; p < entries_.size(); ++p) members[at(p)] = entries_.entry(p);
    return members;
  }

  void set_members(const std::vector<Index>& members) override {
    for (const Index e : members) entries_.add(e);
    entries_.renumber();
    after_growth();
  }

  DualSolution dual_solution(const EntryMultipliers& multipliers) const override {
    DualPoint dual;
    dual.entries.setZero(problem_.entries());
    dual.quadratic_slope.setZero(problem_.entries());
    for (Index p = 0; p < entries_.size(); ++p) {
      if (costs_.kind_of(p) != EntryKind::kFree) continue;
      dual.entries(entries_.entry(p)) = multipliers.convexity(p);
      if (problem_.has_quadratic) dual.quadratic_slope(entries_.entry(p)) = multipliers.quadratic_slope(p);
    }
    dual.equality.resize(static_cast<Index>(problem_.equality_entries.size()));
    for (std::size_t q = 0; q < problem_.equality_entries.size(); ++q) {
      dual.equality(static_cast<Index>(q)) = multipliers.convexity(entries_.position(problem_.equality_entries[q]));
    }
    dual.single.resize(static_cast<Index>(problem_.single.size()));
    for (std::size_t t = 0; t < problem_.single.size(); ++t) {
      dual.single(static_cast<Index>(t)) = multipliers.hinge(entries_.position(problem_.single[t].minus));
    }
    dual.coupled = multipliers.coupled;
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
    costs_.kind.resize(at(entries_.size()));
    for (Index p = 0; p < entries_.size(); ++p) costs_.kind[at(p)] = kind_of_entry_[at(entries_.entry(p))];
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
  CanonicalProblem problem_;
  EntrySet entries_;
  DivergenceGrid grid_;
  std::unique_ptr<Factorization> factorization_;
  NormalWeights weights_;
  Vector hinge_of_entry_;                 // flat
  std::vector<EntryKind> kind_of_entry_;  // flat
  EntryCosts costs_;
  std::vector<HingeItem> coupled_;
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

}  // namespace bregmax::internal
