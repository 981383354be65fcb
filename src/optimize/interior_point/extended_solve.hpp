#pragma once

#include "bregmax/optimize/interior_point.hpp"
#include "optimize/proof/solve_support.hpp"

namespace bregmax::internal {

// Solves a small problem (ExtendedMethod::can_afford) by iterations of 32 digits, numbered on from `first_iteration`.
Solution solve_extended(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
                        const Stopwatch& watch, int first_iteration);

}  // namespace bregmax::internal
