#pragma once

#include <algorithm>

namespace bregmax::internal {

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
