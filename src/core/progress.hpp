#pragma once

#include <chrono>

#include "bregmax/core/matrix.hpp"
#include "bregmax/core/run_control.hpp"

namespace bregmax::internal {

// The time since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

// The progress of a phase of which `done` of `all` parts are done.
inline Progress share_done(std::string_view phase, Index done, Index all, const Stopwatch& watch) {
  Progress progress{.phase = phase, .iteration = static_cast<int>(done)};
  progress.fraction = static_cast<double>(done) / static_cast<double>(all);
  progress.seconds = watch.seconds();
  return progress;
}

}  // namespace bregmax::internal
