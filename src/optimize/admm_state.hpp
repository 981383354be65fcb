#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace bregmax::internal {

// Where numbers lie that a checkpoint holds: address and bytes.
using RawParts = std::vector<std::pair<char*, std::size_t>>;

struct AdmmResiduals {
  double primal = 1, dual = 1;  // relative
};

// Sums of squares over copies, weighted by their penalties beside the common one.
struct ResidualSums {
  double miss = 0;    // of what is copied less its slack
  double change = 0;  // of the slack in the last step
  double value = 0;   // of what is copied
  double slack = 0;
  double multiplier = 0;  // over the common penalty

  void add(double weight, double now, double now_slack, double old_slack, double copy) {
    miss += weight * (now - now_slack) * (now - now_slack);
    change += weight * (now_slack - old_slack) * (now_slack - old_slack);
    value += weight * now * now;
    slack += weight * now_slack * now_slack;
    multiplier += weight * (copy - now_slack) * (copy - now_slack);
  }
  void add(const ResidualSums& other) {
    miss += other.miss;
    change += other.change;
    value += other.value;
    slack += other.slack;
    multiplier += other.multiplier;
  }
  AdmmResiduals residuals() const {
    return {std::sqrt(miss / std::max({value, slack, 1e-300})), std::sqrt(change / std::max(multiplier, 1e-300))};
  }
};

}  // namespace bregmax::internal
