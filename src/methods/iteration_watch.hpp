#pragma once

#include <chrono>
#include <optional>

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// The clock and the limits of one run: looked at once an iteration.
class IterationWatch {
 public:
  // Both must outlive this.
  IterationWatch(const MethodLimits& limits, const RunControl& control) : limits_(limits), control_(control) {}

  // Reports progress; says whether, and why, the run ends after `iterations` of them.
  std::optional<Status> end_after(int iterations, double objective, double stationarity) const;

  double seconds() const;

 private:
  const MethodLimits& limits_;
  const RunControl& control_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace bregmax::internal
