#pragma once

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// A polish factors a dense matrix of pieces * (features + 1) rows, once or a few times. can_polish(): this takes at
// most about a second. polish_is_quick(): it takes milliseconds.
bool can_polish(const LearningProblem& problem);
bool polish_is_quick(const LearningProblem& problem);

// Moves multipliers until the Lagrangian is stationary.
//
// If features differ by many powers of ten, rounding multipliers to doubles lowers the bound by more than a gap of 1e-8
// allows. Here a multiplier is a sum of two doubles: the low parts go to dual.entries and dual.items_low. Steps are by
// least squares, and each multiplier changes in proportion to its distance from the nearer end of its range.
//
// price_of_piece: the multiplier of ||a_k||_1 <= L, which the derivatives by a_k have to stay within. dual: a matrix of
// convexity, and no entries. Looks at the stop flag between its rounds.
void polish_multipliers(const LearningProblem& problem, const Vector& price_of_piece, const RunControl& control,
                        DualSolution& dual);

}  // namespace bregmax::internal
