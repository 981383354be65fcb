#include "methods/iteration_watch.hpp"

namespace bregmax::internal {

std::optional<Status> IterationWatch::end_after(int iterations, double objective, double stationarity) const {
  Progress progress{.phase = "learn", .iteration = iterations};
  progress.objective = objective;
  progress.relative_gap = stationarity;
  progress.seconds = seconds();
  control_.report(progress);
  if (stationarity <= limits_.tolerance) return Status::kConverged;
  if (control_.stop_requested()) return Status::kStopped;
  if (limits_.time_limit > 0 && progress.seconds >= limits_.time_limit) return Status::kTimeLimit;
  if (iterations >= limits_.max_iterations) return Status::kIterationLimit;
  return std::nullopt;
}

double IterationWatch::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace bregmax::internal
