#pragma once

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// A polish factors a dense matrix of pieces * (features + 1) rows, once or a few times. Whether that takes a second or
// so at most, and whether it takes milliseconds.
bool can_polish(const LearningProblem& problem);
bool polish_is_quick(const LearningProblem& problem);

// Moves multipliers until the derivatives of the Lagrangian are what they should be.
//
// Where features differ by many powers of ten, the rounding of multipliers to doubles costs the bound more than a gap
// of 1e-8. Here a multiplier is a sum of two doubles: the low parts go to dual.entries and dual.items_low. Steps are by
// least squares, each multiplier changing in proportion to how far it is from the nearer end of its range.
//
// price_of_piece: the multiplier of ||a_k||_1 <= L, which the derivatives by a_k have to stay within. dual: a matrix of
// convexity, and no entries. Looks at the stop flag between its rounds.
void polish_multipliers(const LearningProblem& problem, const Vector& price_of_piece, const RunControl& control,
                        DualSolution& dual);

}  // namespace bregmax::internal
