#pragma once

#include "bregmax/optimize/interior_point.hpp"
#include "optimize/interior_point/recovery.hpp"
#include "optimize/interior_point/settings.hpp"

namespace bregmax::internal {

// solve_interior_point() for a problem and options that have been checked. `recovery` says which remedies may be used,
// and counts them.
Solution run_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                            const RunControl& control, const InteriorPointSettings& settings, Recovery& recovery);

}  // namespace bregmax::internal
