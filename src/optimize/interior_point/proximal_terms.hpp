#pragma once

#include "optimize/interior_point/step_rule.hpp"

namespace bregmax::internal {

// Sizes of the proximal terms: rho dx in the normal equations, and delta dy in G dx - ds + delta dy = -r. They keep the
// system well posed where there is no interior or no curvature, and vanish as the steps do.
class ProximalTerms {
 public:
  ProximalTerms(const CanonicalProblem& problem, const InteriorPointSettings& settings, Recovery& recovery)
      : problem_(problem), settings_(settings), recovery_(recovery), least_dual_scale_(settings.least_dual_scale) {}

  // Sets the delta of every cone, times `scale`. uses_downdate: see NormalEquations.
  void set_dual_terms(double scale, bool uses_downdate, Iterate& iterate) const;
  double primal_term(bool uses_downdate) const;

  // Makes a term smaller where the last step shows it to be in the way. `unit`: what gaps are relative to.
  void adapt(const Iterate& iterate, const LastStep& last, bool uses_downdate, double unit);
  void relax_primal() { primal_scale_ *= settings_.relaxation; }
  void strengthen();

 private:
  double slopes_held_by(bool uses_downdate) const;

  const CanonicalProblem& problem_;
  const InteriorPointSettings& settings_;
  Recovery& recovery_;
  double primal_scale_ = 1, dual_scale_ = 1;
  double least_dual_scale_;
  double previous_dual_residual_ = 0, previous_convexity_residual_ = 0;
};

}  // namespace bregmax::internal
