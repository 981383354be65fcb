#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::oracle {

// internal::polish_multipliers() with more effort. Multipliers that are nearly at an end of their range go there first:
// at an optimum they are there, and otherwise they would have to balance to more digits than the large ones have. Steps
// are by an orthogonal factorization in double-double arithmetic.
void polish_thoroughly(const LearningProblem& problem, const Vector& price_of_piece, DualSolution& dual);

}  // namespace bregmax::oracle
