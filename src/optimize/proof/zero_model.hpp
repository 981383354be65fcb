#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// How the dual variables of convexity are held: all of them, those that are not zero, or, for label pairs with one
// piece per row, as a function that fills rows (see DualSolution).
enum class DualForm { kMatrix, kList, kByRow };

// The zero model, with dual variables that prove it optimal if lambda is large enough. The dual variable of a loss on
// D(i, j) is cancelled by the one of D(j, i) >= 0. That leaves <a_{p_i} - a_{p_j}, x_i - x_j> in the Lagrangian, which
// costs less than lambda L from some lambda on.
Solution zero_model(const LearningProblem& problem, DualForm form = DualForm::kMatrix);

}  // namespace bregmax::internal
