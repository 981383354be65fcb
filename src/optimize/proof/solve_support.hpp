#pragma once

// What every solver of the learning problem needs around its iterations.

#include <fmt/format.h>

#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

[[noreturn]] inline void refuse(const char* name, double value, const char* allowed) {
  throw Error(fmt::format("{} is {}; allowed: {}", name, value, allowed));
}

// The options that all solvers have.
template <class Options>
void check_limits(const Options& options, double least_tolerance, const char* tolerances) {
  if (!(options.tolerance >= least_tolerance && options.tolerance <= 0.1)) {
    refuse("tolerance", options.tolerance, tolerances);
  }
  if (options.max_iterations < 1) refuse("max_iterations", options.max_iterations, "1 or more");
  if (!(options.time_limit >= 0)) refuse("time_limit", options.time_limit, "0 (none) or more seconds");
}

inline void put_into_report(const Proof& proof, SolveReport& report) { static_cast<Proof&>(report) = proof; }

inline void certify_into_report(const LearningProblem& problem, Solution& solution) {
  put_into_report(certify(problem, solution), solution.report);
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
