#pragma once

#include <chrono>
#include <string>

#include "bregmax/core/run_control.hpp"
#include "interrupt.hpp"

namespace bregmax::app {

// One line on standard error that shows how far a computation is, if standard error is a terminal.
class ProgressLine {
 public:
  // A solver is done when its gap reaches the tolerance; other work reports the fraction itself.
  explicit ProgressLine(double tolerance = 0);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  RunControl control();  // reports here and stops on Ctrl-C; must not outlive this object
  void clear();

 private:
  void show(const Progress& progress);
  double fraction(const Progress& progress) const;

  bool terminal_;
  double tolerance_;
  double first_gap_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_shown_;
};

// work(control) with a progress line, which Ctrl-C asks to stop.
template <class Work>
auto run_with_progress(const Work& work) {
  const Interrupt interrupt;
  ProgressLine progress;
  return work(progress.control());
}

}  // namespace bregmax::app
