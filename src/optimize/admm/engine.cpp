#include "optimize/admm/engine.hpp"

#include <algorithm>
#include <cmath>

#include "optimize/proof/certify_bounds.hpp"
#include "optimize/proof/model_scale.hpp"
#include "optimize/proof/solve_support.hpp"

namespace bregmax::internal {
namespace {

constexpr double kLeastPart = 1e-8, kPartFactor = 4;

// Pieces with as little of the strictly convex model as makes them feasible; searched for from what was last time.
bool make_feasible(const LearningProblem& problem, const ConvexRepair& repair, AffinePieces& pieces, double& part) {
  // With a piece at every row there is another way, which changes less than much of another model.
  const bool own_pieces = problem.pieces == problem.points.rows();
  const double most = own_pieces ? 0.3 : 1;
  const AffinePieces given = pieces;
  part = part / (kPartFactor * kPartFactor) < kLeastPart ? 0 : part / (kPartFactor * kPartFactor);
  while (true) {
    if (repair.repair(part, pieces)) return true;
    pieces = given;
    if (part == most) break;
    part = std::clamp(kPartFactor * part, kLeastPart, most);
  }
  part = 0;
  if (!own_pieces) return false;
  repair.take_over(pieces);
  return repair.violation(pieces).feasible();
}

}  // namespace

bool bounds_hold_for_all(const LearningProblem& problem) {
  return problem.lambda > 0 || std::isfinite(problem.lipschitz_bound);
}

double proof_radius(const LearningProblem& problem, const AdmmProof& proof) {
  const bool for_all = bounds_hold_for_all(problem) || proof.lipschitz == 0;
  return for_all ? problem.lipschitz_bound : kCertifiedRadius * proof.lipschitz;
}

void improve_model(const LearningProblem& problem, const ConvexRepair& repair, const AffinePieces& pieces,
                   const std::function<double(const AffinePieces&)>& loss_of, AdmmProof& proof) {
  AffinePieces candidate = pieces;
  if (!make_feasible(problem, repair, candidate, proof.repair_part)) return;
  keep_if_better(problem, repair, candidate, loss_of, proof);
  // Near a solution it is about 1; far from one, where a rounded difference may ask for any, it does not matter.
  const double scale = std::clamp(best_scale(problem, candidate), 0.5, 2.0);
  candidate.slopes *= scale;
  candidate.offsets *= scale;
  keep_if_better(problem, repair, std::move(candidate), loss_of, proof);
}

void keep_if_better(const LearningProblem& problem, const ConvexRepair& repair, AffinePieces candidate,
                    const std::function<double(const AffinePieces&)>& loss_of, AdmmProof& proof) {
  respect_bound(problem.lipschitz_bound, candidate.slopes, candidate.offsets);
  const double loss = loss_of(candidate), lipschitz = candidate.slopes.cwiseAbs().rowwise().sum().maxCoeff();
  const double objective = loss + problem.lambda * lipschitz;
  if (!(objective < proof.objective)) return;
  proof.convexity_violation = repair.violation(candidate).largest;
  proof.model = std::move(candidate);
  proof.loss = loss;
  proof.lipschitz = lipschitz;
  proof.objective = objective;
}

}  // namespace bregmax::internal
