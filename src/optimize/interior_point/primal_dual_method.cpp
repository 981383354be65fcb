#include "optimize/interior_point/primal_dual_method.hpp"

namespace bregmax::internal {

PrimalDualMethod::PrimalDualMethod(const CanonicalProblem& problem, const InteriorPointSettings& settings,
                                   Recovery& recovery)
    : settings_(settings),
      recovery_(recovery),
      iterate_(problem, settings, recovery),
      newton_(iterate_, settings, recovery),
      proximal_(problem, settings, recovery),
      steps_(iterate_, newton_, settings),
      kept_nu_(iterate_.value.nu) {}

const IterateMeasures& PrimalDualMethod::measure() {
  iterate_.measure();
  return iterate_.measures;
}

bool PrimalDualMethod::factor(double dual_scale) {
  proximal_.set_dual_terms(dual_scale, newton_.uses_downdate(), iterate_);
  return newton_.factor(proximal_.primal_term(newton_.uses_downdate()));
}

bool PrimalDualMethod::advance(double least_mu, double unit) {
  iterate_.widen_free_bound();
  proximal_.adapt(iterate_, steps_.last(), newton_.uses_downdate(), unit);
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
  // Without couplings the dense factorization would be the same one, at a far higher price.
  if (newton_.poor_directions() >= settings_.poor_in_a_row) {
    newton_.forget_poor_directions();
    if (newton_.uses_downdate() && recovery_.use(Remedy::kDenseFactorization)) newton_.use_dense();
  }
  return true;
}

// Changes what to factor where the last direction is not accurate enough; false: it is, or nothing is left to change.
bool PrimalDualMethod::mend_system(int& strengthenings) {
  if (newton_.uses_downdate()) {
    return newton_.is_harmful() && recovery_.use(Remedy::kDenseFactorization) && newton_.use_dense();
  }
  if (newton_.poor_directions() == 0 || strengthenings == settings_.strengthenings) return false;
  if (!recovery_.use(Remedy::kStrengthenProximal)) return false;
  ++strengthenings;
  proximal_.strengthen();
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
