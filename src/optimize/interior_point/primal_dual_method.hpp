#pragma once

#include "optimize/interior_point/step_rule.hpp"

namespace bregmax::internal {

// The iterations of the interior point method: the iterate, its Newton system, its steps, and the remedies if one of
// them fails.
class PrimalDualMethod {
 public:
  PrimalDualMethod(const CanonicalProblem& problem, const InteriorPointSettings& settings, Recovery& recovery);

  void start() { iterate_.start(); }
  // Brings residuals and measures up to date with the iterate.
  const IterateMeasures& measure();
  const IterateMeasures& measures() const { return iterate_.measures; }
  const Iterate& iterate() const { return iterate_; }

  // One iteration. Products are not driven below `least_mu`; `unit` is the unit of the relative gap. False: the linear
  // algebra broke down, and the iterate has not changed.
  bool advance(double least_mu, double unit);

  // An iteration towards products of `target` that meets the constraints up to rounding: late in the iterations, slacks
  // are as small as the residuals that the proximal term leaves.
  bool center(double target);

  // Moves only the multipliers, towards dual feasibility. Late in the iterations their residual is rounding, magnified
  // by weights y / s of up to 1e8; here weights are y. The refined multipliers prove more, but the iterations must
  // continue from the earlier ones: call restore_dual() before anything else moves.
  void refine_dual();
  void restore_dual();

  void relax_proximal() { primal_scale_ *= settings_.relaxation; }

 private:
  bool factor(double dual_scale);
  double slopes_held_by(bool uses_downdate) const;
  void adapt_proximal(double unit);
  void strengthen_proximal();
  bool mend_system(int& strengthenings);

  const InteriorPointSettings& settings_;
  Recovery& recovery_;
  Iterate iterate_;
  NewtonSystem newton_;
  StepRule steps_;
  Vector kept_nu_;
  // Proximal terms, rho dx in the normal equations and delta dy in G dx - ds + delta dy = -r, keep the system well
  // posed where there is no interior or no curvature, and vanish as the steps do. Their sizes, relative to the
  // settings:
  double primal_scale_ = 1, dual_scale_ = 1, least_dual_scale_;
  double previous_dual_residual_ = 0, previous_convexity_residual_ = 0;
};

}  // namespace bregmax::internal
