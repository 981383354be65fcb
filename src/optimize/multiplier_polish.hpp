#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// Whether a polish costs little: it factors a dense matrix of pieces * (features + 1) rows.
bool can_polish(const LearningProblem& problem);
bool polish_is_quick(const LearningProblem& problem);  // some milliseconds

// Moves the multipliers of convexity until the derivatives of the Lagrangian are what they should be.
//
// Multipliers that are right to the last digit of a double leave derivatives of 1e-16 of what they are sums of. Where
// features differ by many powers of ten, a bound pays for that with more than a gap of 1e-8. Here multipliers have
// twice the digits: what a double cannot hold of them goes to dual.entries. Each changes in proportion to itself, by
// least squares; the multipliers of the items stay, and with them what they are worth.
//
// price_of_piece: the multiplier of ||a_k||_1 <= L, which the derivatives by a_k have to stay within.
void polish_multipliers(const LearningProblem& problem, const Vector& price_of_piece, DualSolution& dual);

}  // namespace bregmax::internal
