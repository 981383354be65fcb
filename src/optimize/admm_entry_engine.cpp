#include <algorithm>
#include <cmath>
#include <limits>

#include "optimize/admm_engine.hpp"
#include "optimize/admm_entries.hpp"
#include "optimize/solve_support.hpp"
#include "optimize/zero_model.hpp"

namespace bregmax::internal {
namespace {

// On a set of entries of the canonical problem: the supervised ones, and the constraints that can be active.
class EntryEngine final : public AdmmEngine {
 public:
  EntryEngine(const LearningProblem& problem, const AdmmOptions& options)
      : problem_(problem),
        canonical_(canonicalize(problem)),
        method_(canonical_, options.over_relaxation),
        repair_(problem) {}

  std::string_view name() const override { return "entries"; }

  void start(const AffinePieces* model) override {
    PrimalPoint point{Vector::Zero(canonical_.z_count), Matrix::Zero(canonical_.pieces, canonical_.features)};
    if (model != nullptr) point = import_model(canonical_, model->slopes, model->offsets);
    method_.start(point);
  }

  void iterate() override { method_.iterate(); }
  int iteration() const override { return method_.iteration(); }
  AdmmResiduals residuals() const override { return method_.residuals(); }
  AffinePieces model() override { return pieces_of(method_.primal_point()); }

  AdmmProof first_proof() override {
    Solution zero = zero_model(problem_);
    const Certificate certificate = certify(problem_, zero);
    AdmmProof proof;
    proof.model = {std::move(zero.slopes), std::move(zero.offsets)};
    proof.objective = proof.loss = certificate.objective;
    proof.dual_objective = certificate.dual_objective;
    proof.dual = std::move(zero.dual);
    set_unit(proof);
    return proof;
  }

  void prove(AdmmProof& proof) override {
    prove_with(method_.primal_point(), method_.dual_point(), proof);
    if (method_.averaged() > 1) prove_with(method_.average_primal(), method_.average_dual(), proof);
  }

  void choose_model(const AffinePieces& model, AdmmProof& proof) override {
    AdmmProof other = proof;
    other.objective = std::numeric_limits<double>::infinity();
    improve(model, other);
    if (std::isfinite(other.objective)) proof = std::move(other);
  }

  // An average of the last part of the iterations; the first ones are far from the solution.
  void after_proof() override {
    if (method_.averaged() > method_.iteration() / 4) method_.clear_average();
  }

  std::vector<Index> members() const override { return method_.members(); }
  void set_members(const std::vector<Index>& members) override { method_.set_members(members); }
  RawParts raw_state() override { return method_.raw_state(); }
  void after_restore() override { method_.after_restore(); }

 private:
  AffinePieces pieces_of(const PrimalPoint& point) const {
    Solution solution;
    solution.slopes.setZero(problem_.pieces, problem_.points.cols());
    export_model(canonical_, point, solution);
    return {std::move(solution.slopes), std::move(solution.offsets)};
  }

  void set_unit(AdmmProof& proof) const {
    proof.unit = std::max({std::abs(proof.objective), canonical_.zero_objective / 1000, 1e-300});
  }

  void improve(const AffinePieces& pieces, AdmmProof& proof) const {
    const auto loss_of = [&](const AffinePieces& model) {
      Solution bare;
      bare.slopes = model.slopes;
      bare.offsets = model.offsets;
      return certify(problem_, bare).loss;
    };
    improve_model(problem_, repair_, pieces, loss_of, proof);
    set_unit(proof);
  }

  void prove_with(const PrimalPoint& primal, const DualPoint& dual, AdmmProof& proof) {
    const AffinePieces pieces = pieces_of(primal);
    if (!pieces.slopes.allFinite()) return;
    improve(pieces, proof);
    // The bound is proved beside the model that is returned.
    Solution solution;
    solution.slopes = proof.model.slopes;
    solution.offsets = proof.model.offsets;
    export_dual(problem_, canonical_, dual, solution);
    const double bound = certify(problem_, solution).dual_objective;
    if (bound > proof.dual_objective) {
      proof.dual_objective = bound;
      proof.dual = std::move(solution.dual);
    }
  }

  const LearningProblem& problem_;
  CanonicalProblem canonical_;
  AdmmEntries method_;
  ConvexRepair repair_;
};

}  // namespace

std::unique_ptr<AdmmEngine> make_entry_engine(const LearningProblem& problem, const AdmmOptions& options) {
  return std::make_unique<EntryEngine>(problem, options);
}

double predict_entry_memory(const LearningProblem& problem) {
  const auto rows = static_cast<double>(problem.points.rows()), features = static_cast<double>(problem.points.cols());
  const double pieces = problem.pieces, grid = rows * pieces, slopes = pieces * features;
  const bool dense = pieces < rows;
  const auto items = static_cast<double>(item_count(problem.supervision));
  const bool targets = std::holds_alternative<Targets>(problem.supervision);
  // Flat arrays of the canonical problem and the set, the copies of a set that may become all, and the multipliers of
  // two proofs; the factorization; the items.
  const double arrays = grid * 8 * (targets ? 24 : 20);
  const double factors = dense ? 8 * (slopes + pieces) * (slopes + pieces) : 8 * (slopes + pieces) * (pieces + 1);
  return arrays + factors + 8 * slopes * (features + 12) + items * 200 + 16 * rows * features;
}

}  // namespace bregmax::internal
