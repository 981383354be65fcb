#include "bregmax/core/status.hpp"

namespace bregmax {

std::string to_string(Status status) {
  // In the order of the enumeration.
  static constexpr const char* kNames[] = {"optimal", "converged",     "iteration_limit", "time_limit",
                                           "stopped", "early_stopped", "numerical_error"};
  return kNames[static_cast<int>(status)];
}

}  // namespace bregmax
