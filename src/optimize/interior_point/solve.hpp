#pragma once

#include "bregmax/optimize/interior_point.hpp"
#include "optimize/interior_point/recovery.hpp"

namespace bregmax::internal {

// solve_interior_point() with remedies that can be counted and switched off.
Solution solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                              const RunControl& control, Recovery& recovery);

}  // namespace bregmax::internal
