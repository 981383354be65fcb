#include "run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

namespace bregmax::app {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void request_interrupt(int /*signal*/) { interrupt_requested.store(true, std::memory_order_relaxed); }

}  // namespace

Interrupt::Interrupt() {
  interrupt_requested = false;
  struct sigaction action {};
  action.sa_handler = request_interrupt;
  // Back to the default action after the first one, so that a second Ctrl-C kills; no system call fails over it.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Interrupt::~Interrupt() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool>& Interrupt::requested() { return interrupt_requested; }

ProgressLine::ProgressLine(double tolerance) : terminal_(::isatty(STDERR_FILENO) != 0), tolerance_(tolerance) {}

ProgressLine::~ProgressLine() { clear(); }

RunControl ProgressLine::control() {
  RunControl control;
  control.stop = &Interrupt::requested();
  if (terminal_) control.on_progress = [this](const Progress& progress) { show(progress); };
  return control;
}

double ProgressLine::fraction(const Progress& progress) const {
  if (std::isfinite(progress.fraction)) return std::clamp(progress.fraction, 0.0, 1.0);
  if (!(tolerance_ > 0) || !(first_gap_ > tolerance_) || !(progress.relative_gap > 0)) return 0;
  // Interior point iterations win about the same number of digits each.
  return std::clamp(std::log(first_gap_ / progress.relative_gap) / std::log(first_gap_ / tolerance_), 0.0, 1.0);
}

void ProgressLine::show(const Progress& progress) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  first_gap_ = std::max(first_gap_, std::isfinite(progress.relative_gap) ? progress.relative_gap : 0);
  if (shown_ && now - last_shown_ < kPause) return;
  last_shown_ = now;
  shown_ = true;
  constexpr int kWidth = 30;
  const int done = static_cast<int>(std::lround(fraction(progress) * kWidth));
  std::string line = fmt::format("\r\x1b[K{} [{:=<{}}{: <{}}] {} {}", progress.phase, "", done, "", kWidth - done,
                                 progress.phase == "tune" ? "fit" : "iteration", progress.iteration);
  if (std::isfinite(progress.relative_gap)) line += fmt::format("  gap {:.1e}", progress.relative_gap);
  if (std::isfinite(progress.primal_residual) && std::isfinite(progress.dual_residual)) {
    line += fmt::format("  residuals {:.0e} {:.0e}", progress.primal_residual, progress.dual_residual);
  }
  line += fmt::format("  {:.1f} s", progress.seconds);
  // A fraction of the work is a promise about time; the gap of a solver is not.
  if (progress.fraction > 0) {
    line += fmt::format(", {:.0f} s left", progress.seconds * (1 - progress.fraction) / progress.fraction);
  }
  fmt::print(stderr, "{}", line);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace bregmax::app
