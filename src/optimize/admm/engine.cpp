#include "optimize/admm/engine.hpp"

#include <cmath>
#include <limits>

#include "optimize/proof/certify_bounds.hpp"
#include "optimize/proof/solve_support.hpp"

namespace bregmax::internal {

bool bounds_hold_for_all(const LearningProblem& problem) {
  return problem.lambda > 0 || std::isfinite(problem.lipschitz_bound);
}

Solution AdmmEngine::certified_zero_model(DualForm form) const {
  Solution zero = zero_model(problem_, form);
  put_into_report(certify_bounds(problem_, zero, problem_.lipschitz_bound), zero.report);
  return zero;
}

double AdmmEngine::bound_of(const Solution& solution, const Solution& best) const {
  const bool for_all = bounds_hold_for_all(problem_) || best.report.lipschitz == 0;
  const double radius = for_all ? problem_.lipschitz_bound : kCertifiedRadius * best.report.lipschitz;
  return certify_bounds(problem_, solution, radius).lower_bound;
}

void AdmmEngine::choose_model(const AffinePieces& model, Solution& best) const {
  const double before = best.report.objective;
  best.report.objective = std::numeric_limits<double>::infinity();
  keep_if_better(model, best);
  if (std::isinf(best.report.objective)) best.report.objective = before;
}

void AdmmEngine::keep_if_better(AffinePieces candidate, Solution& best) const {
  respect_bound(problem_.lipschitz_bound, candidate.slopes, candidate.offsets);
  Solution bare;
  static_cast<AffinePieces&>(bare) = std::move(candidate);
  const Certificate found = certify_bounds(problem_, bare, 0);
  if (!(found.objective < best.report.objective)) return;
  best.report.convexity_violation = repair_.violation(bare).largest;
  best.report.loss = found.loss;
  best.report.lipschitz = found.lipschitz;
  best.report.objective = found.objective;
  static_cast<AffinePieces&>(best) = std::move(bare);
}

}  // namespace bregmax::internal
