#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// The zero model, with multipliers that prove it optimal whenever lambda is large enough. The losses pull at some
// D(i, j): each such pull is met by the multiplier of D(j, i) >= 0, which leaves <a_{p_i} - a_{p_j}, x_i - x_j>, a
// cost that lambda outweighs from some value on.
enum class DualForm { kMatrix, kList };
Solution zero_model(const LearningProblem& problem, DualForm form = DualForm::kMatrix);

}  // namespace bregmax::internal
