#pragma once

// The names of the remedies of the interior point method; docs/solver.md says what makes the solver use each.

#include <string_view>

#include "optimize/interior_point/recovery.hpp"

namespace bregmax::test {

using internal::Remedy;

struct RemedyInfo {
  Remedy remedy;
  std::string_view name;
};

// In the order of the enumeration.
inline constexpr RemedyInfo kRemedyInfo[] = {
    {Remedy::kFreeBound, "free_bound"},
    {Remedy::kWidenFreeBound, "widen_free_bound"},
    {Remedy::kRetryFactorization, "retry_factorization"},
    {Remedy::kStrengthenProximal, "strengthen_proximal"},
    {Remedy::kDenseFactorization, "dense_factorization"},
    {Remedy::kRelaxPrimalProximal, "relax_primal_proximal"},
    {Remedy::kRelaxDualProximal, "relax_dual_proximal"},
    {Remedy::kDualProximalNearEnd, "dual_proximal_near_end"},
    {Remedy::kRefineDual, "refine_dual"},
    {Remedy::kPolishMultipliers, "polish_multipliers"},
    {Remedy::kRelaxUnproved, "relax_unproved"},
    {Remedy::kCenter, "center"},
    {Remedy::kMixConvex, "mix_convex"},
    {Remedy::kZeroModel, "zero_model"},
};
static_assert(std::size(kRemedyInfo) == internal::kRemedies);

}  // namespace bregmax::test
