#include "bregmax/optimize/interior_point.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"
#include "optimize/interior_point/solve.hpp"

namespace bregmax {
namespace {

void check_options(const InteriorPointOptions& options) {
  if (!(options.tolerance >= 1e-12 && options.tolerance <= 0.1)) {
    throw Error(fmt::format("tolerance is {}; allowed: 1e-12 to 0.1", options.tolerance));
  }
  if (options.max_iterations < 1) {
    throw Error(fmt::format("max_iterations is {}; allowed: 1 or more", options.max_iterations));
  }
  if (!(options.time_limit >= 0)) {
    throw Error(fmt::format("time_limit is {}; allowed: 0 (none) or more seconds", options.time_limit));
  }
}

}  // namespace

Solution solve_interior_point(const LearningProblem& problem, const InteriorPointOptions& options,
                              const RunControl& control) {
  validate(problem);
  check_options(options);
  internal::Recovery recovery;
  return internal::solve(problem, options, control, {}, recovery);
}

}  // namespace bregmax
