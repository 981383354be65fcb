#pragma once

// What every solver of the learning problem needs around its iterations.

#include <optional>

#include "bregmax/core/threads.hpp"
#include "bregmax/optimize/certificate.hpp"
#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

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
