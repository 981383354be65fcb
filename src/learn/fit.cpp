#include "bregmax/learn/fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/factory.hpp"
#include "bregmax/learn/tune.hpp"
#include "bregmax/optimize/interior_point.hpp"
#include "learn/learning_parts.hpp"

namespace bregmax {
namespace {

void check_options(const FitOptions& options) {
  if (!(options.smoothing >= 0) || !std::isfinite(options.smoothing)) {
    throw Error(fmt::format("smoothing is {}; allowed: a finite number >= 0", options.smoothing));
  }
  if (options.pieces < 0) throw Error(fmt::format("pieces is {}; allowed: 0 (every row) or more", options.pieces));
}

}  // namespace

FitResult fit(const MatrixView& rows, const Supervision& supervision, const FitOptions& options,
              const RunControl& control) {
  check_options(options);
  internal::check_rows(rows);
  FitResult result;
  result.model.scaling = internal::make_scaling(rows, options.scale);
  const LearningProblem problem = internal::make_problem(result.model.scaling, rows, supervision, options);

  const InteriorPointOptions solver_options{options.tolerance, options.max_iterations, options.time_limit};
  Solution solution = solve_interior_point(problem, solver_options, control);
  result.report = solution.report;
  result.certificate = certify(problem, solution);
  result.model.divergence = make_max_affine(std::move(solution.slopes), std::move(solution.offsets), options.smoothing);
  result.model.record = internal::make_record(problem, options, result.report);
  result.model.record.constant = is_constant(*result.model.divergence, problem.points);
  return result;
}

}  // namespace bregmax
