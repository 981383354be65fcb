#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bregmax::app {
namespace {

// Tenths of a second do not matter after a minute.
std::string duration_text(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kLongest = 1e9;
  if (seconds < 10 * kMinute) return fmt::format("{:.{}f} s", seconds, seconds < kMinute ? 1 : 0);
  const auto whole = static_cast<long long>(std::min(seconds, kLongest));
  if (seconds < kHour) return fmt::format("{} min", whole / 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

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
  // Each interior point iteration gains about the same number of digits.
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
  const char* counted = progress.phase == "tune" ? "fit" : (progress.phase == "runs" ? "run" : "iteration");
  std::string line = fmt::format("\r\x1b[K{} [{:=<{}}{: <{}}] {} {}", progress.phase, "", done, "", kWidth - done,
                                 counted, progress.iteration);
  if (std::isfinite(progress.relative_gap)) line += fmt::format("  gap {:.1e}", progress.relative_gap);
  if (std::isfinite(progress.primal_residual) && std::isfinite(progress.dual_residual)) {
    line += fmt::format("  residuals {:.0e} {:.0e}", progress.primal_residual, progress.dual_residual);
  }
  line += "  " + duration_text(progress.seconds);
  // The fraction of the work predicts the time that is left; the gap of a solver does not.
  if (progress.fraction > 0) {
    line += ", " + duration_text(progress.seconds * (1 - progress.fraction) / progress.fraction) + " left";
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
