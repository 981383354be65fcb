#include "optimize/extended_solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "optimize/certified_point.hpp"
#include "optimize/extended_method.hpp"

namespace bregmax::internal {
namespace {

// Features in units of their own deviations, however far apart those are.
CanonicalProblem canonicalize_fully(const LearningProblem& problem) {
  CanonicalProblem canonical = canonicalize(problem, 0);
  const bool free = problem.lambda == 0 && !std::isfinite(problem.lipschitz_bound);
  // The price that holds slopes where nothing else does: of the cheapest of them, which is the dearest here.
  if (free && canonical.features > 0) canonical.lambda /= canonical.norm_weight.maxCoeff();
  return canonical;
}

}  // namespace

Solution solve_extended(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control,
                        const Stopwatch& watch, int first_iteration) {
  constexpr double kLeastGap = 0.01;  // of the tolerance, that iterations aim at
  const CanonicalProblem canonical = canonicalize_fully(problem);
  ExtendedMethod method(canonical);
  const ConvexRepair repair(problem);
  std::optional<Solution> solution;
  const auto prove = [&] {
    solution = certified_point(problem, canonical, method.primal_point(), method.dual_point(), options.tolerance, true,
                               control);
    const double scale = repair.violation({solution->slopes, solution->offsets}).scale;
    return is_proved(*solution, options.tolerance, std::max(scale, canonical.value_unit));
  };
  const double constant = canonical.constant / canonical.objective_unit;
  const double least_unit = 1e-3 * canonical.zero_objective / canonical.objective_unit;
  SolveStatus status = SolveStatus::kNumericalError;
  int iteration = first_iteration;
  while (true) {
    const ExtendedMethod::Measures now = method.measure();
    const double unit = std::max(std::abs(now.primal + constant), least_unit);
    const double gap = std::abs(now.primal - now.dual) / unit;
    if (control.on_progress) {
      Progress progress;
      progress.phase = "solve";
      progress.iteration = iteration;
      progress.objective = (now.primal + constant) * canonical.objective_unit;
      progress.relative_gap = gap + now.infeasibility / unit;
      progress.seconds = watch.seconds();
      control.report(progress);
    }
    // What is still infeasible may be no more than polishing mends: the certificate tells.
    if (gap <= 0.5 * options.tolerance && prove()) {
      status = SolveStatus::kOptimal;
      break;
    }
    if (const auto verdict = interruption(control, watch, options.time_limit, iteration, options.max_iterations)) {
      status = *verdict;
      break;
    }
    const double least = kLeastGap * options.tolerance * unit / static_cast<double>(method.constraints());
    if (!method.advance(least)) break;
    ++iteration;
  }
  if (status != SolveStatus::kOptimal && prove()) status = SolveStatus::kOptimal;
  if (status == SolveStatus::kOptimal) lead_by_mixing(problem, repair, options.tolerance, *solution);
  solution->report.status = status;
  solution->report.iterations = iteration;
  return *std::move(solution);
}

}  // namespace bregmax::internal
