#include "bregmax/core/status.hpp"

namespace bregmax {

std::string to_string(Status status) {
  switch (status) {
    case Status::kOptimal:
      return "optimal";
    case Status::kConverged:
      return "converged";
    case Status::kIterationLimit:
      return "iteration_limit";
    case Status::kTimeLimit:
      return "time_limit";
    case Status::kStopped:
      return "stopped";
    case Status::kEarlyStopped:
      return "early_stopped";
    case Status::kNumericalError:
      return "numerical_error";
  }
  return "numerical_error";
}

}  // namespace bregmax
