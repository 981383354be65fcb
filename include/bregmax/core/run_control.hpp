#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <string_view>

namespace bregmax {

// Where a long computation is. Fields that mean nothing for the phase are NaN.
struct Progress {
  std::string_view phase;                                      // "solve", "tune", "cluster", ...
  int iteration = 0;                                           // iterations or items done
  double fraction = std::numeric_limits<double>::quiet_NaN();  // of the work, 0..1
  double objective = std::numeric_limits<double>::quiet_NaN();
  double relative_gap = std::numeric_limits<double>::quiet_NaN();
  double tolerance = std::numeric_limits<double>::quiet_NaN();  // the relative gap at which the phase ends
  double primal_residual = std::numeric_limits<double>::quiet_NaN();
  double dual_residual = std::numeric_limits<double>::quiet_NaN();
  double seconds = 0;  // since the phase began
};

// How a caller steers a long computation. The library never prints and installs no signal handlers: it
// reports here, and looks at the stop flag at least once per iteration.
struct RunControl {
  const std::atomic<bool>* stop = nullptr;           // set it from anywhere to end the run early
  std::function<void(const Progress&)> on_progress;  // called from the calling thread only
  std::function<void(std::string_view)> on_log;      // one line, without a line end

  bool stop_requested() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
  void report(const Progress& progress) const {
    if (on_progress) on_progress(progress);
  }
  void log(std::string_view line) const {
    if (on_log) on_log(line);
  }
};

}  // namespace bregmax
