#pragma once

#include "bregmax/core/run_control.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax {

struct InteriorPointOptions {
  double tolerance = 1e-8;   // on the relative gap; 1e-12 .. 1e-1
  int max_iterations = 400;  // >= 1; with fewer than 400 there is one try, else they are shared by up to three
  double time_limit = 0;     // seconds; 0: none
};

// Solves the problem to the tolerance. Deterministic for a given number of threads; allocates nothing inside the
// iterations, but once where it changes over to another factorization; looks at the stop flag and the limits once an
// iteration. Where features differ by many powers of ten, what is not solved is tried again in other units of theirs,
// and, where the problem is small, in arithmetic of 32 digits, which does allocate.
Solution solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options = {},
                              const RunControl& control = {});

}  // namespace bregmax
