#pragma once

#include <algorithm>
#include <cmath>

#include "core/checkpoint_file.hpp"

namespace bregmax::internal {

struct AdmmResiduals {
  double primal = 1, dual = 1;  // relative
};

// Sums of squares over copies, weighted by their penalties relative to the common one.
struct ResidualSums {
  double miss = 0;    // of the copied value less its slack
  double change = 0;  // of the slack in the last step
  double value = 0;   // of the copied value
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

// Set by hand; over-relaxation by 1.5 to 1.8 is usual.
inline constexpr double kOverRelaxation = 1.7;
inline constexpr int kCheckEvery = 50;  // iterations between proofs, or a tenth of all so far if that is more
inline constexpr int kPatience = 5;     // scores on held-out data that may fail to improve in a row

inline constexpr double kFirstPenalty = 0.1;
inline constexpr double kFirstNormWeight = 0.1;  // penalty of a slope relative to an entry's, per entry of its piece

// Penalties change less and less often, and finally not at all, so that the iterations converge.
struct PenaltySchedule {
  static constexpr int kMostChanges = 60;
  int next = 20, changes = 0;

  bool is_due(int iteration) const { return iteration >= next && changes < kMostChanges; }
  void advance(int iteration) {
    ++changes;
    next = static_cast<int>(1.25 * iteration) + 20;
  }
};

// The state of the iterations in addition to their vectors.
struct AdmmNumbers {
  int iteration = 0;
  PenaltySchedule schedule;
  double penalty = 0, norm_weight = 0;  // norm_weight: penalty of a slope relative to that of an entry
  AdmmResiduals residuals, norm_residuals;

  void append_to(RawParts& parts) {
    append(parts, penalty, norm_weight, residuals.primal, residuals.dual, norm_residuals.primal, norm_residuals.dual,
           iteration, schedule.next, schedule.changes);
  }
};

// Factors for the common penalty, and for that of the slopes relative to it. Convergence is fastest if primal and dual
// residuals have the same size.
struct PenaltyChange {
  double common = 1, norm = 1;
};
inline PenaltyChange balance(const AdmmResiduals& all, const AdmmResiduals& of_norm) {
  constexpr double kLeastChange = 1.3, kNormApart = 3;
  const auto imbalance = [](const AdmmResiduals& r) { return std::sqrt(r.primal / std::max(r.dual, 1e-300)); };
  const double ratio = imbalance(all), apart = imbalance(of_norm) / ratio;
  PenaltyChange change;
  if (ratio > kLeastChange || ratio < 1 / kLeastChange) change.common = std::clamp(ratio, 0.1, 10.0);
  // Slopes that all move one way, as when L falls, are balanced separately.
  if (apart > 0 && (apart > kNormApart || apart < 1 / kNormApart)) {
    change.norm = std::clamp(apart, 1 / kNormApart, kNormApart);
  }
  return change;
}

}  // namespace bregmax::internal
