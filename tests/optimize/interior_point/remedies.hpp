#pragma once

// The remedies of the interior point method by name, with what makes the solver use each.

#include <string_view>

#include "optimize/interior_point/recovery.hpp"

namespace bregmax::test {

using internal::Remedy;

struct RemedyInfo {
  Remedy remedy;
  std::string_view name, trigger;
};

// In the order of the enumeration.
inline constexpr RemedyInfo kRemedyInfo[] = {
    {Remedy::kFreeBound, "free_bound", "targets, no bound on L, and a lambda of zero or nearly so"},
    {Remedy::kWidenFreeBound, "widen_free_bound", "the optimum rests on the bound that free_bound added"},
    {Remedy::kRetryFactorization, "retry_factorization", "a factorization met a pivot that is not positive"},
    {Remedy::kStrengthenProximal, "strengthen_proximal", "rounding leaves a large residual of a direction"},
    {Remedy::kDenseFactorization, "dense_factorization",
     "with comparisons as a low-rank update, a direction would cost the bound more than the gap, or three in a row "
     "were inaccurate"},
    {Remedy::kRelaxPrimalProximal, "relax_primal_proximal",
     "a whole step left a dual residual that the primal proximal term explains"},
    {Remedy::kRelaxDualProximal, "relax_dual_proximal",
     "a whole step left convexity residuals that the dual proximal term explains"},
    {Remedy::kDualProximalNearEnd, "dual_proximal_near_end", "the relative gap is below 1e-4"},
    {Remedy::kRefineDual, "refine_dual", "the iterate looks optimal"},
    {Remedy::kPolishMultipliers, "polish_multipliers", "the refined multipliers do not prove the gap"},
    {Remedy::kRelaxUnproved, "relax_unproved", "four more iterates looked optimal and were not proved"},
    {Remedy::kCenter, "center", "at some row of the solution another piece ties with the row's own"},
    {Remedy::kMixConvex, "mix_convex", "pieces still tie after centering"},
    {Remedy::kZeroModel, "zero_model", "the solution is no better than the zero model"},
};
static_assert(std::size(kRemedyInfo) == internal::kRemedies);

}  // namespace bregmax::test
