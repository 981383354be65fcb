#pragma once

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// A polish factors a dense matrix of pieces * (features + 1) rows, once or a few times. Whether that takes a second or
// so at most, and whether it takes milliseconds (a thorough one takes some hundred of them).
bool can_polish(const LearningProblem& problem);
bool polish_is_quick(const LearningProblem& problem);

enum class PolishEffort {
  // Steps in proportion to the multipliers, by normal equations.
  kUsual,
  // Multipliers that are as good as at an end of their range go there first. At an optimum they are there, and as long
  // as
  // they are not, they have to balance to more digits than the large ones have. Steps are by an orthogonal
  // factorization
  // in numbers of 32 digits. Only where a polish is quick, and few multipliers are left.
  kThorough,
};

// Moves multipliers until the derivatives of the Lagrangian are what they should be.
//
// Multipliers that are right to the last digit of a double leave derivatives of 1e-16 of what they are sums of. Where
// features differ by many powers of ten, a bound pays for that with more than a gap of 1e-8. Here multipliers have
// twice the digits: what a double cannot hold of them goes to dual.entries and dual.items_low. Each changes in
// proportion to itself, or to what it is away from the other end of its range, by least squares.
//
// price_of_piece: the multiplier of ||a_k||_1 <= L, which the derivatives by a_k have to stay within. dual: a matrix of
// convexity, and no entries. Looks at the stop flag between its rounds.
void polish_multipliers(const LearningProblem& problem, const Vector& price_of_piece, PolishEffort effort,
                        const RunControl& control, DualSolution& dual);

}  // namespace bregmax::internal
