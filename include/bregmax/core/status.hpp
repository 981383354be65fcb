#pragma once

#include <string>

namespace bregmax {

// How a run of a solver or a method ended. Under every status the result describes the model that is returned.
enum class Status {
  kOptimal,         // the proved gap is within the tolerance (solvers with a proof only)
  kConverged,       // the method's own measure of stationarity is within the tolerance
  kIterationLimit,  // max_iterations was reached
  kTimeLimit,       // time_limit was reached
  kStopped,         // the caller asked for it through RunControl
  kEarlyStopped,    // the score on held-out items no longer improved; never called optimal
  kNumericalError,  // rounding errors ended the progress
};

inline std::string to_string(Status status) {
  static constexpr const char* kNames[] = {"optimal", "converged",     "iteration_limit", "time_limit",
                                           "stopped", "early_stopped", "numerical_error"};
  return kNames[static_cast<int>(status)];
}

// Whether the run reached what was asked of it.
inline bool is_success(Status status) {
  return status == Status::kOptimal || status == Status::kConverged || status == Status::kEarlyStopped;
}

}  // namespace bregmax
