#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// The clock and the limits of one run, looked at once per iteration.
class IterationWatch {
 public:
  // Both must outlive this.
  IterationWatch(const MethodLimits& limits, const RunControl& control) : limits_(limits), control_(control) {}

  // Reports progress; says whether, and why, the run ends after `iterations` of them.
  std::optional<Status> end_after(int iterations, double objective, double stationarity) const;

  struct Measure {
    double objective = 0, stationarity = 0;
  };
  // Alternates measure() and iterate() until the run ends; where iterate() returns false, with a numerical error.
  MethodReport run(const std::function<Measure()>& measure, const std::function<bool()>& iterate) const;

  double seconds() const;

 private:
  const MethodLimits& limits_;
  const RunControl& control_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace bregmax::internal
