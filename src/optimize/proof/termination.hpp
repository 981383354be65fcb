#pragma once

// When a solver of the learning problem is done. Every solver stops by these definitions:
//
//   unit                = max(|objective|, kGapFloor * objective of the zero model)
//   relative gap        = (objective - lower bound) / unit
//   gap within          : |relative gap| <= tolerance
//   proved (kOptimal)   : gap within, and convexity violation <= kFeasible * largest divergence
//   interrupted         : the caller asks to stop (kStopped), seconds >= time limit (kTimeLimit), or
//                         iterations >= iteration limit (kIterationLimit), in this order
//
// Without the floor, an optimum near zero could never be proved: rounding errors are relative to the sums of the
// losses, which are of the size of the zero model's objective.

#include <algorithm>
#include <cmath>
#include <optional>

#include "bregmax/optimize/learning_problem.hpp"
#include "core/progress.hpp"

namespace bregmax::internal {

inline constexpr double kGapFloor = 1e-3;
// The largest violation of convexity of a model that counts as feasible, relative to the largest divergence.
inline constexpr double kFeasible = 1e-8;

// Both objectives in the same units, the caller's or canonical ones.
inline double gap_unit(double objective, double zero_objective) {
  return std::max({std::abs(objective), kGapFloor * zero_objective, 1e-300});
}
inline double relative_gap(double objective, double lower_bound, double zero_objective) {
  return (objective - lower_bound) / gap_unit(objective, zero_objective);
}

// The gap can be negative: the objective of a model that is not convex may be below the bound.
inline bool has_gap_within(const Proof& proof, double tolerance) { return std::abs(proof.relative_gap) <= tolerance; }
inline bool has_gap_within(const Solution& solution, double tolerance) {
  return has_gap_within(solution.report, tolerance);
}

inline bool is_feasible(double violation, double largest_divergence) {
  return violation <= kFeasible * largest_divergence;
}
// `scale`: the largest divergence of the model, or the divergence that the supervision asks for.
inline bool is_proved(const Solution& solution, double tolerance, double scale) {
  return has_gap_within(solution, tolerance) && is_feasible(solution.report.convexity_violation, scale);
}

// The reason to end a run before its next iteration, if there is one. A time limit of 0 is no limit.
inline std::optional<Status> interruption(const RunControl& control, const Stopwatch& watch, double time_limit,
                                          int iteration, int last_iteration) {
  if (control.stop_requested()) return Status::kStopped;
  if (time_limit > 0 && watch.seconds() >= time_limit) return Status::kTimeLimit;
  if (iteration >= last_iteration) return Status::kIterationLimit;
  return std::nullopt;
}

}  // namespace bregmax::internal
