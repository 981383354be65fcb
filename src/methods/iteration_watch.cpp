#include "methods/iteration_watch.hpp"

namespace bregmax::internal {

std::optional<Status> IterationWatch::end_after(int iterations, double objective, double stationarity) const {
  Progress progress{.phase = "learn", .iteration = iterations};
  progress.objective = objective;
  progress.relative_gap = stationarity;
  progress.tolerance = limits_.tolerance;
  progress.seconds = seconds();
  control_.report(progress);
  if (stationarity <= limits_.tolerance) return Status::kConverged;
  if (control_.stop_requested()) return Status::kStopped;
  if (limits_.time_limit > 0 && progress.seconds >= limits_.time_limit) return Status::kTimeLimit;
  if (iterations >= limits_.max_iterations) return Status::kIterationLimit;
  return std::nullopt;
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

double IterationWatch::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
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
