#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "bregmax/methods/learned.hpp"
#include "core/progress.hpp"

namespace bregmax::internal {

// The clock and the limits of one run, checked once per iteration.
class IterationWatch {
 public:
  // Both must outlive this.
  IterationWatch(const MethodLimits& limits, const RunControl& control) : limits_(limits), control_(control) {}

  // Reports progress. Returns why the run ends after this many iterations, or nothing if it goes on.
  std::optional<Status> end_after(int iterations, double objective, double stationarity) const;

  struct Measure {
    double objective = 0, stationarity = 0;
  };
  // Alternates measure() and iterate() until the run ends. If iterate() returns false, it ends with kNumericalError.
  MethodReport run(const std::function<Measure()>& measure, const std::function<bool()>& iterate) const;

  double seconds() const { return watch_.seconds(); }
  // The report of a run that ends now; its status is kNumericalError unless the caller knows better.
  MethodReport report(int iterations, double objective, double stationarity) const;

 private:
  const MethodLimits& limits_;
  const RunControl& control_;
  Stopwatch watch_;
};

// The best point and the best lower bound that a run has seen.
template <class Point>
struct BestPoint {
  Point at;
  double objective = 0;
  double bound = 0;  // objectives are sums of terms >= 0, so 0 is a bound

  void see(const Point& point, double objective_there, double bound_there) {
    if (at.size() == 0 || objective_there < objective) {
      at = point;
      objective = objective_there;
    }
    bound = std::max(bound, bound_there);
  }
  double gap() const { return std::max(0.0, objective - bound); }
};

}  // namespace bregmax::internal
