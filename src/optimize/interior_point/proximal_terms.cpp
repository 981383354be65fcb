#include "optimize/interior_point/proximal_terms.hpp"

#include <algorithm>
#include <cmath>

namespace bregmax::internal {

void ProximalTerms::set_dual_terms(double scale, bool uses_downdate, Iterate& iterate) const {
  for (Cone* cone : iterate.cones) cone->delta = settings_.dual_proximal * dual_scale_ * scale;
  // A low-rank update is the more accurate the smaller its weights (at most 1 / delta) are. A residual of the hinges is
  // harmless, since losses are recomputed from D.
  if (uses_downdate) iterate.over.delta = iterate.nonneg.delta = settings_.coupled_dual_proximal * scale;
}

// Where only a small lambda holds the slopes, the proximal term should be small relative to it.
double ProximalTerms::slopes_held_by(bool uses_downdate) const {
  return uses_downdate || problem_.lambda == 0
             ? 1
             : std::clamp(std::sqrt(problem_.lambda), settings_.least_slope_hold, 1.0);
}

double ProximalTerms::primal_term(bool uses_downdate) const {
  return settings_.primal_proximal * std::min(1.0, primal_scale_ * slopes_held_by(uses_downdate));
}

void ProximalTerms::adapt(const Iterate& iterate, const LastStep& last, bool uses_downdate, double unit) {
  const InteriorPointSettings& set = settings_;
  const IterateMeasures& now = iterate.measures;
  if (last.longest > set.whole_step && now.dual_residual > set.unexplained * previous_dual_residual_ &&
      now.dual_residual < set.explained * last.dual_residual && recovery_.use(Remedy::kRelaxPrimalProximal)) {
    relax_primal();
  }
  // Where rows are close, their multipliers are large, and a term that is too large lets them grow only slowly.
  const Cone& convexity = iterate.convexity;
  const double residual = convexity.r.size() > 0 ? convexity.r.lpNorm<Eigen::Infinity>() : 0;
  if (last.primal_step > set.whole_step && residual > set.unexplained * previous_convexity_residual_ &&
      residual < set.explained * last.convexity_residual &&
      std::abs(convexity.r.dot(convexity.y)) > set.residual_worth * now.gap() &&
      recovery_.use(Remedy::kRelaxDualProximal)) {
    dual_scale_ = std::max(least_dual_scale_, set.relaxation * dual_scale_);
  }
  // Near the end residuals have to be far below the slacks of active constraints, or at some rows another piece than
  // their own is the largest. A low-rank update would not bear the weights of that.
  if (now.gap() < set.near_end * unit && now.dual_damage <= now.gap() && !uses_downdate &&
      recovery_.use(Remedy::kDualProximalNearEnd)) {
    dual_scale_ = std::max({least_dual_scale_, set.dual_relaxation_near_end * dual_scale_,
                            std::min(dual_scale_, set.dual_scale_near_end)});
  }
  previous_dual_residual_ = now.dual_residual;
  previous_convexity_residual_ = residual;
}

void ProximalTerms::strengthen() {
  primal_scale_ = std::min(1 / slopes_held_by(false), settings_.primal_strengthening * primal_scale_);
  dual_scale_ = least_dual_scale_ = std::min(settings_.most_dual_scale, settings_.dual_strengthening * dual_scale_);
}

}  // namespace bregmax::internal
