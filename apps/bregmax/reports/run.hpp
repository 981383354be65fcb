#pragma once

#include <chrono>
#include <string>

#include "bregmax/core/run_control.hpp"

namespace bregmax::app {

// While it lives, the first Ctrl-C asks the running computation to stop, and another one ends the program at once,
// unless it comes within a second: that is the same request.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static const std::atomic<bool>& requested();
};

// One line on standard error that shows how far a computation is; only when standard error is a terminal.
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

}  // namespace bregmax::app
