#pragma once

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax {

struct InteriorPointOptions {
  double tolerance = 1e-8;   // on the relative gap; 1e-12 .. 1e-1
  int max_iterations = 400;  // >= 1
  double time_limit = 0;     // seconds; 0: none
};

// Solves the problem to the tolerance. Looks at the stop flag and the limits once per iteration. Iterations allocate
// nothing, except once if the solver changes to a dense factorization. Deterministic for a given number of threads;
// between thread counts results may differ by rounding, since BLAS does not promise the order of its sums.
//
// If features differ by many powers of ten and hardly anything holds their slopes, doubles may be too coarse for a
// proof. The status is then kIterationLimit or kNumericalError, and the lower bound still holds.
Solution solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options = {},
                              const RunControl& control = {});

}  // namespace bregmax
