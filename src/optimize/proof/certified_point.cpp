#include "optimize/proof/certified_point.hpp"

#include "optimize/proof/solve_support.hpp"

namespace bregmax::internal {

void export_feasible_model(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                           Solution& solution) {
  export_model(canonical, primal, solution);
  respect_bound(problem.lipschitz_bound, solution);
}

Solution certified_point(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                         const DualPoint& dual, double tolerance, const RunControl& control,
                         const std::function<bool(PolishCost)>& may_polish) {
  constexpr double kNear = 1e4;  // times the tolerance; a wider gap is not due to rounding
  // What a certificate proves. 0: not the gap; 1: the gap, up to some Lipschitz constant; 2: the gap for every model.
  const auto worth = [&](const Certificate& certificate) {
    if (!has_gap_within(certificate, tolerance)) return 0;
    return certificate.valid_up_to_lipschitz < problem.lipschitz_bound ? 1 : 2;
  };
  Solution solution;
  export_feasible_model(problem, canonical, primal, solution);
  export_dual(problem, canonical, dual, solution);
  const Certificate plain = certify(problem, solution);
  put_into_report(plain, solution.report);
  const bool quick = polish_is_quick(problem);
  const int enough = quick && !has_free_norm(problem) ? 2 : 1;
  const bool worthwhile = plain.relative_gap <= kNear * tolerance && can_polish(problem);
  if (worth(plain) >= enough || !(quick || worthwhile)) return solution;
  if (!may_polish(quick ? PolishCost::kQuick : PolishCost::kSlow)) return solution;
  Solution polished = solution;
  polish_multipliers(problem, canonical.objective_unit / canonical.norm_unit * dual.price, control, polished.dual);
  const Certificate certificate = certify(problem, polished);
  const bool take = worth(certificate) != worth(plain) ? worth(certificate) > worth(plain)
                                                       : certificate.lower_bound > plain.lower_bound;
  if (!take) return solution;
  put_into_report(certificate, polished.report);
  return polished;
}

void take_if_sound(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& candidate,
                   Solution& solution) {
  certify_into_report(problem, candidate);
  const bool sound = candidate.report.convexity_violation <= solution.report.convexity_violation ||
                     (repair.own_pieces_lead(candidate) && repair.violation(candidate).feasible());
  if (sound && has_gap_within(candidate, tolerance)) solution = candidate;
}

void lead_by_mixing(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& solution) {
  for (const double part : {1e-11, 1e-10, 1e-9, 1e-8}) {
    if (repair.own_pieces_lead(solution)) return;
    Solution candidate = solution;
    if (!repair.repair(part, candidate) || !repair.own_pieces_lead(candidate)) continue;
    take_if_sound(problem, repair, tolerance, candidate, solution);
  }
}

}  // namespace bregmax::internal
