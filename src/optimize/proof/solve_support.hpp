#pragma once

// What every solver of the learning problem needs around its iterations.

#include <optional>

#include "bregmax/core/threads.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "core/checks.hpp"
#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

// The options that all solvers have.
template <class Options>
void check_limits(const Options& options, double least_tolerance, const char* tolerances) {
  require(options.tolerance >= least_tolerance && options.tolerance <= 0.1, "tolerance is {}; allowed: {}",
          options.tolerance, tolerances);
  check_at_least(options.max_iterations, 1, "max_iterations");
  require(options.time_limit >= 0, "time_limit is {}; allowed: 0 (none) or more seconds", options.time_limit);
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

inline bool is_finite(const AffinePieces& pieces) { return pieces.slopes.allFinite() && pieces.offsets.allFinite(); }

inline void scale(double factor, AffinePieces& pieces) {
  pieces.slopes *= factor;
  pieces.offsets *= factor;
}
// Rounding or an early end can leave L above its bound. Convexity survives scaling, so the model is scaled to it.
inline void respect_bound(double bound, AffinePieces& pieces) {
  const double lipschitz = lipschitz_of(pieces);
  if (lipschitz > bound) scale(bound / lipschitz, pieces);
}

}  // namespace bregmax::internal
