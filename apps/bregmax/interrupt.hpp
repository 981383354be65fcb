#pragma once

#include <atomic>

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

}  // namespace bregmax::app
