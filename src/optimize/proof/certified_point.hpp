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

// Converts an iterate of the canonical problem into a certified model with multipliers in the caller's units. If the
// multipliers do not prove a gap of `tolerance`, they are polished if they come near to it or if a polish is quick; if
// they prove it for some models only, they are polished if that is quick. `may_polish` is asked before.
Solution certified_point(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                         const DualPoint& dual, double tolerance, const RunControl& control,
                         const std::function<bool(PolishCost)>& may_polish);
// Writes only the model into the solution.
void export_feasible_model(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                           Solution& solution);

// Replaces the solution by the candidate if that is certified to the tolerance and is convex, or no less convex.
void take_if_sound(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& candidate,
                   Solution& solution);
// If pieces tie at rows, mixes as little of a strictly convex model into an optimal one as makes each row's own piece
// the largest there, if the tolerance allows it. Otherwise rounding would decide which piece a row takes.
void lead_by_mixing(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& solution);

}  // namespace bregmax::internal
