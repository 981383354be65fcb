// An iteration of PrimalDualMethod: its directions, what is done where they are not accurate enough, and the steps.

#include <algorithm>
#include <cmath>

#include "optimize/interior_point/primal_dual_method.hpp"

namespace bregmax::internal {
namespace {

constexpr int kMostCorrectors = 6;
constexpr double kLongStep = 0.95;                       // that needs no corrector
constexpr double kWorthwhileGrowth = 0.02;               // of the two steps together
constexpr double kLowProduct = 0.1, kHighProduct = 100;  // of the target
// Correctors make up for a target that is too low: the largest part of mu that it is.
constexpr double kMostSigma = 0.3;
constexpr double kWorth = 0.1;  // part of the gap
constexpr double kWiderBound = 5;
constexpr double kCenteringDelta = 1e-4;  // of the usual dual proximal term
constexpr double kNearEnd = 1e-4;         // gap, relative
constexpr double kDeltaScaleAtEnd = 1e-2;
constexpr double kMostHingeDeltaScale = 1e3;

}  // namespace

bool PrimalDualMethod::advance(double least_mu, double unit) {
  widen_free_bound();
  adapt_proximal_terms(unit);
  Remedies left;
  double target = 0;
  for (bool found = false; !found;) {
    set_proximal_terms();
    if (!factor()) return false;
    predict();
    if (remedy(left)) continue;
    target = target_product(least_mu);
    correct(target);
    found = !harmful_solve_ || !remedy(left);
  }
  correct_centrality(target);
  if (!dx_accepted_.allFinite()) return false;
  move();
  // What was poor in three directions in a row will not get better. Without couplings the dense factorization
  // would be the same one, at a far higher price.
  if (poor_solves_ >= 3) {
    poor_solves_ = 0;
    if (normal_.uses_update() && recovery_.use(Remedy::kDenseFactorization)) normal_.use_dense();
  }
  return true;
}

void PrimalDualMethod::adapt_proximal_terms(double unit) {
  // The last step was all but whole, and the residual that it left is the proximal term's.
  if (last_step_ > 0.9 && measures_.dual_residual > 0.3 * previous_dual_residual_ &&
      measures_.dual_residual < 2 * proximal_residual_ && recovery_.use(Remedy::kRelaxPrimalProximal)) {
    relax_proximal();
  }
  const double gap = std::abs(measures_.primal - measures_.dual);
  // The same of the convexity constraints, where what they lack is worth a part of the gap. Where rows are close, their
  // multipliers are large, and it would take them thousands of such steps to grow.
  const double residual = convexity_.r.size() > 0 ? convexity_.r.lpNorm<Eigen::Infinity>() : 0;
  if (primal_step_ > 0.9 && residual > 0.3 * previous_convexity_residual_ && residual < 2 * convexity_residual_ &&
      std::abs(convexity_.r.dot(convexity_.y)) > kWorth * gap && recovery_.use(Remedy::kRelaxDualProximal)) {
    delta_scale_ = std::max(least_delta_scale_, 0.1 * delta_scale_);
  }
  // Near the end what constraints lack has to be far below the slacks of those that hold with equality, or the model is
  // left with rows at which another piece than their own is the largest. The update's factorization would not bear the
  // weights of that.
  if (gap < kNearEnd * unit && measures_.dual_damage <= gap && !normal_.uses_update() &&
      recovery_.use(Remedy::kDualProximalNearEnd)) {
    delta_scale_ = std::max({least_delta_scale_, 0.3 * delta_scale_, std::min(delta_scale_, kDeltaScaleAtEnd)});
  }
  previous_dual_residual_ = measures_.dual_residual;
  previous_convexity_residual_ = residual;
}

// A bound of our own must not be what the optimum rests on.
void PrimalDualMethod::widen_free_bound() {
  if (!free_bound_ || bound_.count == 0) return;
  const double gap = std::abs(measures_.primal - measures_.dual);
  if (bound_.y(0) * bound_value_ < kWorth * gap || lipschitz() < 0.5 * bound_value_) return;
  if (!recovery_.use(Remedy::kWidenFreeBound)) return;
  const double before = bound_.s(0);
  bound_.s(0) += (kWiderBound - 1) * bound_value_;
  bound_.y(0) *= before / bound_.s(0);
  bound_value_ *= kWiderBound;
  measure();
}

// Changes what to factor where the last direction is not accurate enough; false: it is, or nothing is left to change.
bool PrimalDualMethod::remedy(Remedies& left) {
  if (!normal_.uses_update()) {
    // Rounding won: a larger proximal term, which is kept.
    if (poor_solves_ == 0 || left.strengthenings == 0 || !recovery_.use(Remedy::kStrengthenProximal)) return false;
    --left.strengthenings;
    strengthen_proximal();
    return true;
  }
  // Couplings in the arrow's update can be too strong for it. A larger proximal term of the hinges weakens them, and
  // costs accuracy that is seldom needed; the dense factorization takes anything.
  if (!harmful_solve_) return false;
  if (left.weakenings == 0 || hinge_delta_scale_ >= kMostHingeDeltaScale ||
      !recovery_.is_on(Remedy::kWeakenCouplings)) {
    return recovery_.use(Remedy::kDenseFactorization) && normal_.use_dense();
  }
  recovery_.use(Remedy::kWeakenCouplings);
  --left.weakenings;
  hinge_delta_scale_ *= 10;
  return true;
}

// Mehrotra: the further the predictor gets, the lower.
double PrimalDualMethod::target_product(double least_mu) const {
  double after = 0;
  for (const Cone* cone : cones_) {
    if (cone->count > 0) after += (cone->s + primal_step_ * cone->ds).dot(cone->y + dual_step_ * cone->dy);
  }
  const double mu = measures_.mu;
  const double ratio = mu > 0 ? after / (mu * static_cast<double>(count_)) : 0;
  const double sigma = std::min(ratio * ratio * ratio, kMostSigma);
  return std::max({mu * sigma, 1e-6 * mu, std::min(mu, least_mu)});
}

bool PrimalDualMethod::center(double target) {
  set_proximal_terms();
  for (Cone* cone : cones_) cone->delta *= kCenteringDelta;
  if (!factor()) return false;
  for (Cone* cone : cones_) cone->aim(target);
  solve_direction();
  accept_direction();
  correct_centrality(target);
  if (!dx_accepted_.allFinite()) return false;
  move();
  return true;
}

// Straight at the boundary.
void PrimalDualMethod::predict() {
  for (Cone* cone : cones_) cone->aim(0);
  solve_direction();
  take_steps(rates_);
}

// At products of `target`, corrected by the second-order term of the prediction.
void PrimalDualMethod::correct(double target) {
  for (Cone* cone : cones_) cone->aim_corrected(target);
  solve_direction();
  accept_direction();
}

// Gondzio: aim at a longer step, and pull the products that would leave [target / 10, 100 target] back to it. A
// correction is added with the aim of the next, or at the end.
void PrimalDualMethod::correct_centrality(double target) {
  CorrectionParts parts;
  for (int round = 0; round < kMostCorrectors && std::min(primal_step_, dual_step_) < kLongStep; ++round) {
    const CentralAim aim = {std::min(1.0, 1.08 * primal_step_ + 0.3), std::min(1.0, 1.08 * dual_step_ + 0.3),
                            kLowProduct * target, kHighProduct * target};
    round == 0 ? aim_correction(aim) : add_and_aim_correction(parts, aim);
    const double before = primal_step_ + dual_step_;
    const PartRates rates = solve_correction();
    if (harmful_solve_ && recovery_.use(Remedy::kDropCorrector)) return;
    if (!dx_.allFinite()) return;
    parts = choose_parts(rates);
    if (primal_step_ + dual_step_ < before + kWorthwhileGrowth) break;
  }
  if (parts.primal > 0 || parts.dual > 0) add_correction(parts);
}

// Colombo and Gondzio: as much of a correction as makes the steps longest, which are taken. Slacks and multipliers meet
// only in the products, so they may take different parts of it.
CorrectionParts PrimalDualMethod::choose_parts(const PartRates& rates) {
  std::size_t primal = 0, dual = 0;
  for (std::size_t part = 1; part < kParts; ++part) {
    if (rates[part].primal < rates[primal].primal) primal = part;
    if (rates[part].dual < rates[dual].dual) dual = part;
  }
  if (p_.has_quadratic) {  // see take_steps
    const auto slower = [](const StepRates& a, const StepRates& b) {
      return std::max(a.primal, a.dual) < std::max(b.primal, b.dual);
    };
    primal = dual = static_cast<std::size_t>(std::min_element(rates.begin(), rates.end(), slower) - rates.begin());
  }
  take_steps({rates[primal].primal, rates[dual].dual});
  return {part_of(primal), part_of(dual)};
}

void PrimalDualMethod::accept_direction() {
  for (Cone* cone : cones_) cone->accept_direction();
  dx_.swap(dx_accepted_);
  dt_.swap(dt_accepted_);
  dzeta_.swap(dzeta_accepted_);
  dnu_.swap(dnu_accepted_);
  take_steps(rates_);
}

void PrimalDualMethod::take_steps(const StepRates& rates) {
  primal_step_ = 1 / rates.primal;
  dual_step_ = 1 / rates.dual;
  // A quadratic objective ties the dual residual to the primal step.
  if (p_.has_quadratic) primal_step_ = dual_step_ = std::min(primal_step_, dual_step_);
}

void PrimalDualMethod::move() {
  const double primal = kToBoundary * primal_step_, dual = kToBoundary * dual_step_;
  last_step_ = std::max(primal, dual);
  proximal_residual_ = proximal_ * primal * dx_accepted_.head(x_.size() - 1).lpNorm<Eigen::Infinity>();
  convexity_residual_ = convexity_.dy_accepted.size() > 0
                            ? convexity_.delta * dual * convexity_.dy_accepted.lpNorm<Eigen::Infinity>()
                            : 0;
  x_ += primal * dx_accepted_;
  t_ += primal * dt_accepted_;
  zeta_ += primal * dzeta_accepted_;
  nu_ += dual * dnu_accepted_;
  for (Cone* cone : cones_) {
    cone->s += primal * cone->ds_accepted;
    cone->y += dual * cone->dy_accepted;
  }
}

}  // namespace bregmax::internal
