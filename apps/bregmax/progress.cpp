#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "core/text.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

// Global, because a signal handler reaches nothing else.
std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

std::atomic<std::int64_t> milliseconds_of_interrupt{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

// One request may come as several signals: `timeout` sends one to the process and one to its group.
constexpr std::int64_t kSameRequest = 1000;  // milliseconds

void handle_interrupts_by(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // system calls go on
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

extern "C" void request_interrupt(int signal) {
  struct timespec time {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
  if (!interrupt_requested.exchange(true, std::memory_order_relaxed)) {
    milliseconds_of_interrupt.store(now, std::memory_order_relaxed);
  } else if (now - milliseconds_of_interrupt.load(std::memory_order_relaxed) >= kSameRequest) {
    handle_interrupts_by(SIG_DFL);
    raise(signal);  // delivered when this handler returns
  }
}

}  // namespace

Interrupt::Interrupt() {
  interrupt_requested = false;
  milliseconds_of_interrupt = 0;
  handle_interrupts_by(request_interrupt);
}

// After a request the handler stays, because more signals of the same request may come.
Interrupt::~Interrupt() {
  if (!interrupt_requested) handle_interrupts_by(SIG_DFL);
}

const std::atomic<bool>& Interrupt::requested() { return interrupt_requested; }

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() { clear(); }

RunControl ProgressLine::control() {
  RunControl control;
  control.stop = &Interrupt::requested();
  control.on_progress = [this](const Progress& progress) {
    work_begins();
    if (terminal_) show(progress);
  };
  return control;
}

double ProgressLine::fraction(const Progress& progress) const {
  if (std::isfinite(progress.fraction)) return std::clamp(progress.fraction, 0.0, 1.0);
  const double gap = progress.relative_gap, end = progress.tolerance;
  if (!(end > 0) || !(first_gap_ > end) || !(gap > 0)) return 0;
  // Each interior point iteration gains about the same number of digits.
  return std::clamp(std::log(first_gap_ / gap) / std::log(first_gap_ / end), 0.0, 1.0);
}

void ProgressLine::show(const Progress& progress) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  first_gap_ = std::max(first_gap_, std::isfinite(progress.relative_gap) ? progress.relative_gap : 0);
  if (shown_ && now - last_shown_ < kPause) return;
  last_shown_ = now;
  shown_ = true;
  constexpr int kWidth = 30;
  const std::string_view phase = progress.phase;
  const char* counted = phase == "tune"                         ? "fit"
                        : phase == "runs" || phase == "compare" ? "run"
                        : phase == "splits"                     ? "split"
                                                                : "iteration";
  const int done = static_cast<int>(std::lround(fraction(progress) * kWidth));
  std::string line =
      fmt::format("\r\x1b[K{} [{:=<{}}{: <{}}] {} {}", phase, "", done, "", kWidth - done, counted, progress.iteration);
  if (std::isfinite(progress.relative_gap)) line += fmt::format("  gap {:.1e}", progress.relative_gap);
  // Without a gap the objective says whether anything is still gained.
  if (!std::isfinite(progress.relative_gap) && std::isfinite(progress.objective)) {
    line += fmt::format("  objective {:.4g}", progress.objective);
  }
  if (std::isfinite(progress.primal_residual) && std::isfinite(progress.dual_residual)) {
    line += fmt::format("  residuals {:.0e} {:.0e}", progress.primal_residual, progress.dual_residual);
  }
  line += "  " + internal::duration(progress.seconds);
  // The fraction of the work predicts the time that is left; the gap of a solver does not.
  if (progress.fraction > 0) {
    line += ", " + internal::duration(progress.seconds * (1 - progress.fraction) / progress.fraction) + " left";
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
