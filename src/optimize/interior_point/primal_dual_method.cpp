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
      kept_nu_(iterate_.value.nu),
      least_dual_scale_(settings.least_dual_scale) {}

const IterateMeasures& PrimalDualMethod::measure() {
  iterate_.measure();
  return iterate_.measures;
}

bool PrimalDualMethod::factor(double dual_scale) {
  const bool downdate = newton_.uses_downdate();
  for (Cone* cone : iterate_.cones) cone->delta = settings_.dual_proximal * dual_scale_ * dual_scale;
  // A low-rank downdate is the more accurate the smaller its weights (at most 1 / delta) are. A residual of the hinges
  // is harmless, since losses are recomputed from D.
  if (downdate) iterate_.over.delta = iterate_.nonneg.delta = settings_.coupled_dual_proximal * dual_scale;
  return newton_.factor(settings_.primal_proximal * std::min(1.0, primal_scale_ * slopes_held_by(downdate)));
}

// Where only a small lambda holds the slopes, the proximal term should be small relative to it.
double PrimalDualMethod::slopes_held_by(bool uses_downdate) const {
  const double lambda = iterate_.problem.lambda;
  return uses_downdate || lambda == 0 ? 1 : std::clamp(std::sqrt(lambda), settings_.least_slope_hold, 1.0);
}

// Makes a proximal term smaller where the last step shows it to be in the way. `unit`: what gaps are relative to.
void PrimalDualMethod::adapt_proximal(double unit) {
  const InteriorPointSettings& set = settings_;
  const IterateMeasures& now = iterate_.measures;
  if (last_.longest > set.whole_step && now.dual_residual > set.unexplained * previous_dual_residual_ &&
      now.dual_residual < set.explained * last_.dual_residual && recovery_.use(Remedy::kRelaxPrimalProximal)) {
    relax_proximal();
  }
  // Where rows are close, their multipliers are large, and a term that is too large lets them grow only slowly.
  const Cone& convexity = iterate_.convexity;
  const double residual = convexity.r.size() > 0 ? convexity.r.lpNorm<Eigen::Infinity>() : 0;
  if (last_.primal_step > set.whole_step && residual > set.unexplained * previous_convexity_residual_ &&
      residual < set.explained * last_.convexity_residual &&
      std::abs(convexity.r.dot(convexity.y)) > set.residual_worth * now.gap() &&
      recovery_.use(Remedy::kRelaxDualProximal)) {
    dual_scale_ = std::max(least_dual_scale_, set.relaxation * dual_scale_);
  }
  // Near the end residuals have to be far below the slacks of active constraints, or at some rows another piece than
  // their own is the largest. A low-rank downdate would not bear the weights of that.
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

double PrimalDualMethod::target_product(double least_mu) const {
  double after = 0;
  for (const Cone* cone : iterate_.cones) {
    if (cone->count == 0) continue;
    after += (cone->s + last_.primal_step * cone->ds).dot(cone->y + last_.dual_step * cone->dy);
  }
  const double mu = iterate_.measures.mu;
  const double ratio = mu > 0 ? after / (mu * static_cast<double>(iterate_.count)) : 0;
  const double sigma = std::min(ratio * ratio * ratio, settings_.most_sigma);
  return std::max({mu * sigma, settings_.least_sigma * mu, std::min(mu, least_mu)});
}

void PrimalDualMethod::accept_direction() {
  const StepRates rates = newton_.solve_direction();
  newton_.accept();
  set_steps(rates);
}

// A correction is added with the aim of the next, or at the end.
void PrimalDualMethod::correct_centrality(double target) {
  const InteriorPointSettings& set = settings_;
  double &primal = last_.primal_step, &dual = last_.dual_step;
  CorrectionParts parts;
  for (int round = 0; round < set.correctors && std::min(primal, dual) < set.long_step; ++round) {
    const CentralAim aim = {std::min(1.0, set.aim_growth * primal + set.aim_more),
                            std::min(1.0, set.aim_growth * dual + set.aim_more), set.low_product * target,
                            set.high_product * target};
    round == 0 ? newton_.aim_correction(aim) : newton_.add_correction(parts, &aim);
    const double before = primal + dual;
    const PartRates rates = newton_.solve_correction({1 / primal, 1 / dual});
    if (!newton_.change.x.allFinite()) return;
    parts = choose_parts(rates);
    if (primal + dual < before + set.worthwhile_growth) break;
  }
  if (parts.primal > 0 || parts.dual > 0) newton_.add_correction(parts);
}

// Colombo and Gondzio: as much of a correction as makes the steps longest, which are taken. Slacks and multipliers meet
// only in the products, so they may take different parts of it.
CorrectionParts PrimalDualMethod::choose_parts(const PartRates& rates) {
  std::size_t primal = 0, dual = 0;
  for (std::size_t part = 1; part < kParts; ++part) {
    if (rates[part].primal < rates[primal].primal) primal = part;
    if (rates[part].dual < rates[dual].dual) dual = part;
  }
  if (iterate_.problem.has_quadratic) {  // see set_steps
    const auto slower = [](const StepRates& a, const StepRates& b) {
      return std::max(a.primal, a.dual) < std::max(b.primal, b.dual);
    };
    primal = dual = static_cast<std::size_t>(std::min_element(rates.begin(), rates.end(), slower) - rates.begin());
  }
  set_steps({rates[primal].primal, rates[dual].dual});
  return {part_of(primal), part_of(dual)};
}

void PrimalDualMethod::set_steps(const StepRates& rates) {
  last_.primal_step = 1 / rates.primal;
  last_.dual_step = 1 / rates.dual;
  // A quadratic objective ties the dual residual to the primal step.
  if (iterate_.problem.has_quadratic)
    last_.primal_step = last_.dual_step = std::min(last_.primal_step, last_.dual_step);
}

bool PrimalDualMethod::move() {
  const double primal = settings_.to_boundary * last_.primal_step, dual = settings_.to_boundary * last_.dual_step;
  if (!newton_.move(primal, dual)) return false;
  const Vector& dx = newton_.accepted.x;
  const Cone& convexity = iterate_.convexity;
  last_.longest = std::max(primal, dual);
  last_.dual_residual = newton_.proximal() * primal * dx.head(dx.size() - 1).lpNorm<Eigen::Infinity>();
  last_.convexity_residual =
      convexity.dy_accepted.size() > 0 ? convexity.delta * dual * convexity.dy_accepted.lpNorm<Eigen::Infinity>() : 0;
  return true;
}

bool PrimalDualMethod::advance(double least_mu, double unit) {
  iterate_.widen_free_bound();
  adapt_proximal(unit);
  int strengthenings = 0;
  double target = 0;
  while (true) {
    if (!factor(1)) return false;
    for (Cone* cone : iterate_.cones) aim_at(0, cone->rows());  // straight at the boundary
    set_steps(newton_.solve_direction());
    if (mend_system(strengthenings)) continue;
    target = target_product(least_mu);
    for (Cone* cone : iterate_.cones) aim_corrected(target, cone->rows());
    accept_direction();
    if (!newton_.is_harmful() || !mend_system(strengthenings)) break;
  }
  correct_centrality(target);
  if (!move()) return false;
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
  strengthen_proximal();
  return true;
}

bool PrimalDualMethod::center(double target) {
  if (!factor(settings_.centering_dual_scale)) return false;
  for (Cone* cone : iterate_.cones) aim_at(target, cone->rows());
  accept_direction();
  correct_centrality(target);
  return move();
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
