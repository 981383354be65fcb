#pragma once

#include <functional>

#include "bregmax/core/run_control.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/proof/convex_repair.hpp"
#include "optimize/proof/multiplier_polish.hpp"
#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

// What a polish of the multipliers costs: milliseconds, or as much as several iterations.
enum class PolishCost : bool { kQuick, kSlow };

// A point of a method on the canonical problem as a certified model with multipliers of the caller's problem. The
// multipliers are polished where they come near to a proof of a gap of `tolerance` but miss it, or where they prove it
// for some models only and a polish is quick; `may_polish` is asked before.
Solution certified_point(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                         const DualPoint& dual, double tolerance, const RunControl& control,
                         const std::function<bool(PolishCost)>& may_polish);
// The model alone goes into the solution.
void export_feasible_model(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                           Solution& solution);

// Takes the candidate's model where that is certified to be as good, and no less convex.
void take_if_sound(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& candidate,
                   Solution& solution);
// Where pieces tie at rows, mixes as much of a strictly convex model into an optimal one as the tolerance leaves room
// for: each row's own piece should be ahead there, not the one that rounding puts ahead.
void lead_by_mixing(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& solution);

}  // namespace bregmax::internal
