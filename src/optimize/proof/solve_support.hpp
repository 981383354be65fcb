#pragma once

// What every solver of the learning problem needs around its iterations.

#include <chrono>
#include <optional>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/optimize/certificate.hpp"

namespace bregmax::internal {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

inline void put_into_report(const Certificate& certificate, SolveReport& report) {
  static_cast<Proof&>(report) = certificate;
}

inline void certify_into_report(const LearningProblem& problem, Solution& solution) {
  put_into_report(certify(problem, solution), solution.report);
}

// Why a run has to end before its next iteration, if it has to.
inline std::optional<Status> interruption(const RunControl& control, const Stopwatch& watch, double time_limit,
                                          int iteration, int last_iteration) {
  if (control.stop_requested()) return Status::kStopped;
  if (time_limit > 0 && watch.seconds() >= time_limit) return Status::kTimeLimit;
  if (iteration >= last_iteration) return Status::kIterationLimit;
  return std::nullopt;
}

// Threads that wait for each other cost more than they save on small problems.
inline void limit_threads(const LearningProblem& problem, std::optional<ThreadLimit>& limit) {
  constexpr Index kLeastParallelWork = 500'000;
  const Index work = problem.points.rows() * problem.pieces * problem.points.cols();
  if (work < kLeastParallelWork) limit.emplace(1);
}

// Rounding or an early end can leave L above its bound. Convexity survives scaling, so the model is scaled to it.
inline void respect_bound(double bound, Matrix& slopes, Vector& offsets) {
  const double lipschitz = slopes.cwiseAbs().rowwise().sum().maxCoeff();
  if (!(lipschitz > bound)) return;
  slopes *= bound / lipschitz;
  offsets *= bound / lipschitz;
}

}  // namespace bregmax::internal
