#pragma once

#include <vector>

#include "methods/ranking_cuts.hpp"

namespace bregmax::internal {

// The master problem of metric learning to rank,
//
//   minimise    tr(W) + C xi
//   subject to  xi >= offset_k - <W, slope_k> for every cutting plane k,  xi >= 0,  W positive semidefinite,
//
// in its dual: maximise sum_k alpha_k offset_k subject to alpha >= 0, sum_k alpha_k <= C and
// Z = I - sum_k alpha_k slope_k positive semidefinite, by Newton's method on the logarithmic barrier with weight mu.
// Near the central path W = mu Z^-1 is the primal solution, and the gap is mu times the number of barriers.
class CuttingPlaneMaster {
 public:
  CuttingPlaneMaster(Index features, double c);

  void add(const RankingCut& cut);
  // Goes to the central path at `mu`; false when rounding prevents it.
  bool center(double mu);
  // Drops the cutting planes that have not mattered for a while. What the others prove remains true.
  void drop_idle();

  Matrix metric() const;       // mu Z^-1
  double lower_bound() const;  // the dual objective: alpha is always feasible
  // Number of barriers: the gap of a centred solution is mu times this.
  double barriers() const { return static_cast<double>(features_ + size() + 1); }
  Index size() const { return multipliers_.size(); }

 private:
  bool newton_step(double& decrement);
  // Goes to other multipliers and returns the barrier function there, which Newton's method maximises; -infinity, and
  // nothing but the multipliers changes, where they are not inside.
  double move_to(const Vector& multipliers);
  Matrix invert_lower() const;

  Index features_;
  double c_;
  double mu_ = 1;
  Vector multipliers_;  // alpha
  Vector offsets_;
  Matrix slopes_;          // one per row, d * d entries
  Matrix lower_;           // Cholesky factor of Z
  std::vector<int> idle_;  // of each cutting plane, for how many centres its multiplier was next to nothing
};

}  // namespace bregmax::internal
