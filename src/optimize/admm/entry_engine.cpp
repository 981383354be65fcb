#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "optimize/admm/engine.hpp"
#include "optimize/admm/entries.hpp"
#include "optimize/admm/space.hpp"
#include "optimize/proof/certify_bounds.hpp"
#include "optimize/proof/solve_support.hpp"
#include "optimize/proof/zero_model.hpp"

namespace bregmax::internal {
namespace {

// With fewer pieces than rows a row's own piece has a slope that others share, and the set is held by pairs of pieces.
bool few_pieces(const LearningProblem& problem) { return problem.pieces < problem.points.rows(); }

constexpr double kUnusedGap = 0.25;    // of the gap that is asked for, what a correction may give away
constexpr double kLeastUnused = 0.05;  // of lambda: less is not worth a correction

// On a set of entries of the divergence grid: the supervised ones, and the constraints that can be active.
class EntryEngine final : public AdmmEngine {
 public:
  EntryEngine(const LearningProblem& problem, const AdmmOptions& options)
      : problem_(problem),
        space_(few_pieces(problem) ? make_row_space(problem) : make_canonical_space(problem)),
        canonical_(space_->canonical()),
        method_(*space_, options.over_relaxation),
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

  AdmmProof first_proof() override {
    Solution zero = zero_model(problem_, few_pieces(problem_) ? DualForm::kList : DualForm::kMatrix);
    const Certificate certificate = certify_bounds(problem_, zero, problem_.lipschitz_bound);
    AdmmProof proof;
    proof.model = {std::move(zero.slopes), std::move(zero.offsets)};
    proof.objective = proof.loss = certificate.objective;
    proof.lower_bound = certificate.lower_bound;
    proof.dual = std::move(zero.dual);
    set_unit(proof);
    return proof;
  }

  void prove(AdmmProof& proof) override {
    prove_with(method_.primal_point(), method_.multipliers(), proof);
    if (method_.averaged() > 1) prove_with(method_.average_primal(), method_.average_multipliers(), proof);
  }

  // Multipliers that leave a part of lambda unused prove less by that part of lambda L. Where that is little, lambda is
  // small beside the multipliers, and it is what they can hardly stay below by themselves.
  bool prove_by_correction(double allowed, const std::function<bool()>& stop, AdmmProof& proof) override {
    const double cost = problem_.lambda * proof.lipschitz;
    if (proof.objective - proof.lower_bound <= allowed || !(cost > 0)) return true;
    if (std::holds_alternative<Targets>(problem_.supervision)) return true;
    const double part = std::min(0.9, kUnusedGap * allowed / cost);
    if (part < kLeastUnused || !method_.correction_is_due()) return true;
    const std::optional<EntryMultipliers> corrected = method_.corrected_multipliers(part, stop);
    if (!corrected) return false;
    prove_with(method_.primal_point(), *corrected, proof);
    return true;
  }

  void choose_model(const AffinePieces& model, AdmmProof& proof) override {
    AdmmProof other = proof;
    other.objective = std::numeric_limits<double>::infinity();
    keep_if_better(
        problem_, repair_, model, [&](const AffinePieces& pieces) { return loss_of(pieces); }, other);
    set_unit(other);
    if (std::isfinite(other.objective)) proof = std::move(other);
  }

  // A part of a strictly convex model puts every piece ahead at its rows.
  void clear_kinks(double most, AdmmProof& proof) override {
    if (proof.lipschitz == 0 || repair_.own_pieces_lead(proof.model)) return;
    for (const double part : {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4}) {
      AffinePieces candidate = proof.model;
      if (!repair_.repair(part, candidate) || !repair_.own_pieces_lead(candidate)) continue;
      AdmmProof other = proof;
      choose_model(candidate, other);
      if (other.objective <= most) proof = std::move(other);
      return;
    }
  }

  // An average of the last part of the iterations; the first ones are far from the solution.
  void after_proof() override {
    if (method_.averaged() > method_.iteration() / 4) method_.clear_average();
  }

  std::vector<Index> members() const override { return space_->members(); }
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

  double loss_of(const AffinePieces& model) const {
    Solution bare;
    bare.slopes = model.slopes;
    bare.offsets = model.offsets;
    return certify_bounds(problem_, bare, 0).loss;
  }

  void improve(const AffinePieces& pieces, AdmmProof& proof) const {
    improve_model(
        problem_, repair_, pieces, [&](const AffinePieces& model) { return loss_of(model); }, proof);
    set_unit(proof);
  }

  void prove_with(const PrimalPoint& primal, const EntryMultipliers& multipliers, AdmmProof& proof) {
    const AffinePieces pieces = pieces_of(primal);
    if (!pieces.slopes.allFinite() || !pieces.offsets.allFinite()) return;
    improve(pieces, proof);
    Solution solution;
    solution.slopes = proof.model.slopes;
    solution.offsets = proof.model.offsets;
    std::swap(solution.dual, proof.dual);
    // A bound that is about models near to the best one is looked at anew, since that may have changed.
    if (!bounds_hold_for_all(problem_)) proof.lower_bound = bound_of(solution, proof);
    std::swap(solution.dual, proof.dual);
    solution.dual = space_->dual_solution(multipliers);
    const double bound = bound_of(solution, proof);
    if (bound > proof.lower_bound) {
      proof.lower_bound = bound;
      proof.dual = std::move(solution.dual);
    }
  }

  double bound_of(const Solution& solution, const AdmmProof& proof) const {
    return certify_bounds(problem_, solution, proof_radius(problem_, proof)).lower_bound;
  }

  const LearningProblem& problem_;
  std::unique_ptr<AdmmSpace> space_;
  const CanonicalProblem& canonical_;
  AdmmEntries method_;
  ConvexRepair repair_;
};

}  // namespace

std::unique_ptr<AdmmEngine> make_entry_engine(const LearningProblem& problem, const AdmmOptions& options) {
  return std::make_unique<EntryEngine>(problem, options);
}

double predict_entry_memory(const LearningProblem& problem) {
  return few_pieces(problem) ? predict_row_memory(problem) : predict_canonical_memory(problem);
}

}  // namespace bregmax::internal
