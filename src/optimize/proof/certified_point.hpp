#pragma once

#include "bregmax/core/run_control.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/proof/convex_repair.hpp"
#include "optimize/proof/multiplier_polish.hpp"

namespace bregmax::internal {

// A point of a method on the canonical problem as a model and multipliers of the caller's, certified. Where the
// multipliers do not prove a gap of `tolerance` but come near to it, they are polished if `polish` says so; and where
// they do not prove it for every model, if that is quick. `effort`: the most of it, where less does not do.
Solution certified_point(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                         const DualPoint& dual, double tolerance, bool polish, PolishEffort effort,
                         const RunControl& control, int* polishes);
// The model alone goes into the solution.
void export_feasible_model(const LearningProblem& problem, const CanonicalProblem& canonical, const PrimalPoint& primal,
                           Solution& solution);

// Whether the gap is below the tolerance, on either side: an objective below the bound is that of a model that is not
// convex.
bool has_gap_within(const Solution& solution, double tolerance);
// That, and convexity as far as solvers see to it; `scale`: the largest divergence, or what is asked of one.
bool is_proved(const Solution& solution, double tolerance, double scale);

// Takes the candidate's model where that is certified to be as good, and no less convex.
void take_if_sound(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& candidate,
                   Solution& solution);
// Where pieces tie at rows, mixes as much of a strictly convex model into an optimal one as the tolerance leaves room
// for: each row's own piece should be ahead there, not the one that rounding puts ahead.
void lead_by_mixing(const LearningProblem& problem, const ConvexRepair& repair, double tolerance, Solution& solution);

}  // namespace bregmax::internal
