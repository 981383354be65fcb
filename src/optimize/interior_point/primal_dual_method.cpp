#include "optimize/interior_point/primal_dual_method.hpp"

#include <algorithm>
#include <cmath>

namespace bregmax::internal {

PrimalDualMethod::PrimalDualMethod(const CanonicalProblem& problem, const InteriorPointSettings& settings,
                                   Recovery& recovery)
    : settings_(settings),
      recovery_(recovery),
      iterate_(problem, settings, recovery),
      newton_(iterate_, settings, recovery),
      steps_(iterate_, newton_, settings),
      kept_nu_(iterate_.value.nu),
      least_dual_scale_(settings.least_dual_scale) {}

const IterateMeasures& PrimalDualMethod::measure() {
  iterate_.measure();
  return iterate_.measures;
}

bool PrimalDualMethod::factor(double dual_scale) {
  const bool downdate = newton_.uses_downdate();
  for (Cone* cone : iterate_.cones) cone->delta = settings_.dual_proximal * dual_scale_ * dual_scale;
  // A low-rank downdate is more accurate with small weights, which are at most 1 / delta. A residual of the hinges is
  // harmless, since losses are recomputed from D.
  if (downdate) iterate_.over.delta = iterate_.nonneg.delta = settings_.coupled_dual_proximal * dual_scale;
  return newton_.factor(settings_.primal_proximal * std::min(1.0, primal_scale_ * slopes_held_by(downdate)));
}

// If only a small lambda holds the slopes, the proximal term should be small relative to lambda.
double PrimalDualMethod::slopes_held_by(bool uses_downdate) const {
  const double lambda = iterate_.problem.lambda;
  return uses_downdate || lambda == 0 ? 1 : std::clamp(std::sqrt(lambda), settings_.least_slope_hold, 1.0);
}

// Reduces a proximal term if the last step shows that it slows the iterations. `unit`: the unit of the relative gap.
void PrimalDualMethod::adapt_proximal(double unit) {
  const InteriorPointSettings& set = settings_;
  const IterateMeasures& now = iterate_.measures;
  const LastStep& last = steps_.last();
  if (last.longest > set.whole_step && now.dual_residual > set.unexplained * previous_dual_residual_ &&
      now.dual_residual < set.explained * last.dual_residual && recovery_.use(Remedy::kRelaxPrimalProximal)) {
    relax_proximal();
  }
  // Close rows have large multipliers, which grow slowly if the dual proximal term is too large.
  const Cone& convexity = iterate_.convexity;
  const double residual = convexity.r.size() > 0 ? convexity.r.lpNorm<Eigen::Infinity>() : 0;
  if (last.primal_to_boundary > set.whole_step && residual > set.unexplained * previous_convexity_residual_ &&
      residual < set.explained * last.convexity_residual &&
      std::abs(convexity.r.dot(convexity.y)) > set.residual_worth * now.gap() &&
      recovery_.use(Remedy::kRelaxDualProximal)) {
    dual_scale_ = std::max(least_dual_scale_, set.relaxation * dual_scale_);
  }
  // Near the end, residuals have to be far below the slacks of active constraints. Otherwise another piece than a row's
  // own may be the largest there. A low-rank downdate would be too inaccurate with the weights that this takes.
  if (now.gap() < set.near_end * unit && now.dual_damage <= now.gap() && !newton_.uses_downdate() &&
      recovery_.use(Remedy::kDualProximalNearEnd)) {
    dual_scale_ = std::max({least_dual_scale_, set.dual_relaxation_near_end * dual_scale_,
                            std::min(dual_scale_, set.dual_scale_near_end)});
  }
  previous_dual_residual_ = now.dual_residual;
  previous_convexity_residual_ = residual;
}

void PrimalDualMethod::strengthen_proximal() {
  primal_scale_ = std::min(1 / slopes_held_by(false), settings_.primal_strengthening * primal_scale_);
  dual_scale_ = least_dual_scale_ = std::min(settings_.most_dual_scale, settings_.dual_strengthening * dual_scale_);
}

bool PrimalDualMethod::advance(double least_mu, double unit) {
  iterate_.widen_free_bound();
  adapt_proximal(unit);
  int strengthenings = 0;
  double target = 0;
  while (true) {
    if (!factor(1)) return false;
    steps_.predict();
    if (mend_system(strengthenings)) continue;
    target = steps_.target_product(least_mu);
    steps_.correct(target);
    if (!newton_.is_harmful() || !mend_system(strengthenings)) break;
  }
  steps_.correct_centrality(target);
  if (!steps_.move()) return false;
  // Without couplings a dense factorization would be no more accurate, and far slower.
  if (newton_.poor_directions() >= settings_.poor_in_a_row) {
    newton_.forget_poor_directions();
    if (newton_.uses_downdate() && recovery_.use(Remedy::kDenseFactorization)) newton_.use_dense();
  }
  return true;
}

// Changes the system if the last direction is not accurate enough. False: it is, or there is nothing left to change.
bool PrimalDualMethod::mend_system(int& strengthenings) {
  if (newton_.uses_downdate()) {
    return newton_.is_harmful() && recovery_.use(Remedy::kDenseFactorization) && newton_.use_dense();
  }
  if (newton_.poor_directions() == 0 || strengthenings == settings_.strengthenings) return false;
  if (!recovery_.use(Remedy::kStrengthenProximal)) return false;
  ++strengthenings;
  strengthen_proximal();
  return true;
}

bool PrimalDualMethod::center(double target) {
  if (!factor(settings_.centering_dual_scale)) return false;
  steps_.center(target);
  steps_.correct_centrality(target);
  return steps_.move();
}

void PrimalDualMethod::refine_dual() {
  for (Cone* cone : iterate_.cones) {
    cone->kept_s = cone->s;
    cone->kept_y = cone->y;
    cone->s.setOnes();
    cone->r.setZero();
    cone->delta = 0;
  }
  kept_nu_ = iterate_.value.nu;
  for (const Index i : iterate_.equalities) iterate_.divergence(i) = 0;
  if (newton_.factor(settings_.refinement_proximal, false)) {
    for (Cone* cone : iterate_.cones) {
      cone->c.setZero();
      cone->dy.setZero();
    }
    newton_.solve_direction();
    for (Cone* cone : iterate_.cones) cone->y += cone->dy.cwiseMax(-settings_.to_boundary * cone->y);
    iterate_.value.nu += newton_.change.nu;
  }
  for (Cone* cone : iterate_.cones) cone->s = cone->kept_s;
  iterate_.measure();
}

void PrimalDualMethod::restore_dual() {
  for (Cone* cone : iterate_.cones) cone->y = cone->kept_y;
  iterate_.value.nu = kept_nu_;
  iterate_.measure();
}

}  // namespace bregmax::internal
