#pragma once

#include <atomic>
#include <chrono>

#include "bregmax/core/run_control.hpp"

namespace bregmax::app {

// While it lives, the first Ctrl-C (or SIGTERM) asks the running computation to stop. A second one that comes more than
// a second later ends the program at once.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static const std::atomic<bool>& requested();
};

// One line on standard error that shows how far a computation is, if standard error is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  RunControl control();  // reports here and stops on Ctrl-C; must not outlive this object
  void clear();

 private:
  void show(const Progress& progress);
  double fraction(const Progress& progress) const;

  bool terminal_;
  double first_gap_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_shown_;
};

// Calls work(control) and shows its progress in a line. Ctrl-C asks the work to stop.
template <class Work>
auto run_with_progress(const Work& work) {
  const Interrupt interrupt;
  ProgressLine progress;
  return work(progress.control());
}

}  // namespace bregmax::app
