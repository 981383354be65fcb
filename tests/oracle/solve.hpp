#pragma once

#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::oracle {

// Solves a small problem that the zero model is not optimal for, to a relative gap of 1e-8, in double-double
// arithmetic: an independent check of solve_interior_point(), up to features that differ by twelve powers of ten.
Solution solve(const LearningProblem& problem);

}  // namespace bregmax::oracle
