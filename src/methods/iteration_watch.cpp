#include "methods/iteration_watch.hpp"

#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

std::optional<Status> IterationWatch::end_after(int iterations, double objective, double stationarity) const {
  Progress progress{.phase = "learn", .iteration = iterations};
  progress.objective = objective;
  progress.relative_gap = stationarity;
  progress.tolerance = limits_.tolerance;
  progress.seconds = seconds();
  control_.report(progress);
  if (stationarity <= limits_.tolerance) return Status::kConverged;
  return interruption(control_, watch_, limits_.time_limit, iterations, limits_.max_iterations);
}

MethodReport IterationWatch::run(const std::function<Measure()>& measure, const std::function<bool()>& iterate) const {
  for (int iterations = 0;; ++iterations) {
    const Measure now = measure();
    const auto end = end_after(iterations, now.objective, now.stationarity);
    if (!end && iterate()) continue;
    MethodReport ended = report(iterations, now.objective, now.stationarity);
    ended.status = end.value_or(Status::kNumericalError);
    return ended;
  }
}

MethodReport IterationWatch::report(int iterations, double objective, double stationarity) const {
  MethodReport report;
  report.iterations = iterations;
  report.objective = objective;
  report.stationarity = stationarity;
  report.seconds = seconds();
  return report;
}

}  // namespace bregmax::internal
