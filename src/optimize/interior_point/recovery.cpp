#include "optimize/interior_point/recovery.hpp"

namespace bregmax::internal {

std::span<const RemedyInfo> remedies() {
  static constexpr RemedyInfo kAll[] = {
      {Remedy::kFreeBound, "free_bound", "targets, no bound on L, and a price that is tiny or zero"},
      {Remedy::kWidenFreeBound, "widen_free_bound", "the optimum rests on the bound that free_bound added"},
      {Remedy::kRetryFactorization, "retry_factorization", "a factorization met a pivot that is not positive"},
      {Remedy::kStrengthenProximal, "strengthen_proximal", "rounding leaves a direction with a large residual"},
      {Remedy::kWeakenCouplings, "weaken_couplings", "the same with comparisons as a low-rank update"},
      {Remedy::kDenseFactorization, "dense_factorization", "weaker couplings did not help, or three poor directions"},
      {Remedy::kDropCorrector, "drop_corrector", "a corrector would cost the bound more than the gap"},
      {Remedy::kRelaxPrimalProximal, "relax_primal_proximal", "a whole step left a dual residual of the proximal term"},
      {Remedy::kRelaxDualProximal, "relax_dual_proximal", "a whole step left convexity residuals of the proximal term"},
      {Remedy::kDualProximalNearEnd, "dual_proximal_near_end", "the gap is below 1e-4"},
      {Remedy::kEndStalled, "end_stalled", "five steps in a row below 1e-6"},
      {Remedy::kRefineDual, "refine_dual", "the iterate looks optimal"},
      {Remedy::kPolishMultipliers, "polish_multipliers", "refined multipliers do not prove the gap"},
      {Remedy::kThoroughPolish, "thorough_polish", "the same in the last try"},
      {Remedy::kKeepBest, "keep_best", "an earlier model or bound is better than the last"},
      {Remedy::kRelaxUnproved, "relax_unproved", "the fourth iterate that looks optimal and is not proved"},
      {Remedy::kAcceptProved, "accept_proved", "a run that failed has a proved solution"},
      {Remedy::kCenter, "center", "pieces tie at rows of the solution"},
      {Remedy::kMixConvex, "mix_convex", "pieces still tie after centering"},
      {Remedy::kOtherUnits, "other_units", "unsolved, and features differ by many powers of ten"},
      {Remedy::kMoreDigits, "more_digits", "still unsolved, and the problem is small"},
      {Remedy::kZeroModel, "zero_model", "the solution is no better than the zero model"},
  };
  static_assert(std::size(kAll) == kRemedies);
  return kAll;
}

}  // namespace bregmax::internal
