// The Newton system of PrimalDualMethod: weights, elimination of t and zeta, right-hand sides, and the way back.

#include <algorithm>
#include <cmath>

#include "optimize/interior_point/primal_dual_method.hpp"
#include "optimize/problem/at.hpp"

namespace bregmax::internal {
namespace {

// Proximal terms, dual and primal. The arrow factorization takes the couplings as a low-rank term, which is the more
// accurate the smaller their weights (at most 1 / delta) are: with it that delta is larger. A residual of the hinges is
// harmless, since losses are recomputed from D.
constexpr double kDelta = 1e-8;
constexpr double kProximal = 1e-8;
constexpr double kUpdateHingeDelta = 1e-6;
// Of the refinement of the multipliers, whose weights are of the order of 1.
constexpr double kRefinementProximal = 1e-13;

}  // namespace

// Where only a small lambda, or nothing, holds the slopes, the proximal term should be small beside it.
double PrimalDualMethod::slopes_held_by() const {
  return normal_.uses_update() || p_.lambda == 0 ? 1 : std::clamp(std::sqrt(p_.lambda), 1e-5, 1.0);
}

void PrimalDualMethod::set_proximal_terms() {
  proximal_ = kProximal * std::min(1.0, proximal_scale_ * slopes_held_by());
  for (Cone* cone : cones_) cone->delta = kDelta * delta_scale_;
  if (normal_.uses_update()) over_.delta = nonneg_.delta = kUpdateHingeDelta * hinge_delta_scale_;
}

void PrimalDualMethod::relax_proximal() { proximal_scale_ *= 0.1; }

void PrimalDualMethod::strengthen_proximal() {
  proximal_scale_ = std::min(1 / slopes_held_by(), 30 * proximal_scale_);
  delta_scale_ = least_delta_scale_ = std::min(100.0, 3 * delta_scale_);
}

void PrimalDualMethod::refine_dual() {
  for (Cone* cone : cones_) {
    cone->kept_s = cone->s;
    cone->kept_y = cone->y;
    cone->s.setOnes();
    cone->r.setZero();
    cone->delta = 0;
  }
  kept_nu_ = nu_;
  for (const Index i : equalities_) divergence_(i) = 0;
  proximal_ = kRefinementProximal;
  if (factor(false)) {
    for (Cone* cone : cones_) cone->aim_nowhere();
    solve_direction();
    for (Cone* cone : cones_) cone->y += cone->dy.cwiseMax(-kToBoundary * cone->y);
    nu_ += dnu_;
  }
  for (Cone* cone : cones_) cone->s = cone->kept_s;
  measure();
}

void PrimalDualMethod::restore_dual() {
  for (Cone* cone : cones_) cone->y = cone->kept_y;
  nu_ = kept_nu_;
  measure();
}

bool PrimalDualMethod::factor(bool with_quadratic) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    set_weights(with_quadratic);
    if (normal_.factor()) return true;
    if (!recovery_.use(Remedy::kRetryFactorization)) return false;
    proximal_ *= 100;
  }
  return false;
}

void PrimalDualMethod::set_weights(bool with_quadratic) {
  NormalWeights& w = normal_.weights();
  w.proximal = proximal_;
  for (Cone* cone : cones_) cone->set_inverse();
  const Index size = entries_.size();
  w.grid.head(size) = convexity_.y.cwiseProduct(convexity_.inverse);
  if (p_.has_quadratic && with_quadratic) {
    for (Index i = 0; i < size; ++i) w.grid(i) += 2 * p_.quadratic(entries_.entry(i));
  }
  for (const Index i : equalities_) w.grid(i) = 1 / kDelta;
  const auto singles = static_cast<Index>(p_.single.size());
  for (Index t = 0; t < hinges_; ++t) {
    const double over = over_.weight(t), nonneg = nonneg_.weight(t);
    inverse_sum_(t) = over + nonneg > 0 ? 1 / (over + nonneg) : 0;
    const double reduced = over * nonneg * inverse_sum_(t);
    if (t < singles) {
      w.grid(minus_[at(t)]) += reduced;
    } else {
      w.coupled(t - singles) = reduced;
    }
  }
  w.lipschitz = 0;
  set_norm_weights();
}

// Eliminating t_k, whose matrix is T = diag(u + l) + w q q', leaves diag(4 u l / (u + l)) + w / (1 + w sum) f f' on
// a_k, f = q (l - u) / (u + l); written so that nothing cancels.
void PrimalDualMethod::set_norm_weights() {
  NormalWeights& w = normal_.weights();
  for (Index k = 0; k < p_.pieces; ++k) {
    double sum = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = upper_.weight(i), lower = lower_.weight(i), q = p_.norm_weight(j);
      sum += q * q / (upper + lower);
      w.slope_diagonal(k, j) = 4 * upper * lower / (upper + lower);
      w.slope_rank_one(k, j) = q * (lower - upper) / (upper + lower);
    }
    w.norm(k) = norm_.weight(k) / (1 + norm_.weight(k) * sum);
  }
  if (bound_.count > 0) w.lipschitz = bound_.weight(0);
}

// What a direction may leave of the dual residual: part of what there is, or more where the harm of that is a tenth of
// the gap that is still to be closed.
double PrimalDualMethod::harmless_residual() const {
  constexpr double kPart = 0.3, kHarm = 0.1;
  const double gap = std::abs(measures_.primal - measures_.dual);
  const double part = measures_.dual_damage > 0 ? std::max(kPart, kHarm * gap / measures_.dual_damage) : kPart;
  return part * measures_.dual_residual;
}

HingeRows PrimalDualMethod::hinge_rows() {
  return {over_.rows(), nonneg_.rows(), inverse_sum_.data(), dual_residual_zeta_.data(),
          plus_.data(), minus_.data(),  dzeta_.data(),       dzeta_accepted_.data()};
}

// Solves for the right-hand sides c that the cones have started with: dx_, dt_, dzeta_, dnu_ and each cone's ds, dy.
void PrimalDualMethod::solve_direction() {
  field_ = convexity_.dy;
  for (const Index i : equalities_) field_(i) = -divergence_(i) / kDelta;
  hinge_passes().eliminate(hinge_rows(), field_.data());
  solve_newton(Solve::kDirection, field_.data());
  hinge_passes().recover(hinge_rows(), field_.data());
  rates_ = {};
  convexity_.finish_direction(field_.data(), rates_);
  for (Cone* cone : cones_) {
    if (cone != &convexity_) cone->finish_direction(nullptr, rates_);
  }
}

// The same for a correction of the accepted direction: dx_, dt_, dnu_, and how long steps its parts allow. It is all
// that changes, so its errors are small beside those of a direction. What is left of it follows from field_, which is
// dD, when it is added.
PartRates PrimalDualMethod::solve_correction() {
  solve_newton(Solve::kCorrection, convexity_.dy.data());
  PartRates rates;
  rates[0] = {1 / primal_step_, 1 / dual_step_};
  convexity_.rate_correction(field_.data(), rates);
  for (Cone* cone : norm_cones_) cone->rate_correction(nullptr, rates);
  hinge_passes().rate_correction(hinge_rows(), field_.data(), rates);
  return rates;
}

// The convexity constraints' dy is where the right-hand sides of a correction are gathered; that of an equality is 0
// before hinges are added, since its multiplier among them is.
void PrimalDualMethod::aim_correction(const CentralAim& aim) {
  convexity_.aim_central(aim);
  for (Cone* cone : norm_cones_) cone->aim_central(aim);
  hinge_passes().aim_central(hinge_rows(), aim, convexity_.dy.data());
}

// Those of the hinges are added in their passes.
void PrimalDualMethod::add_unknowns_of_correction(const CorrectionParts& parts) {
  dx_accepted_ += parts.primal * dx_;
  dt_accepted_ += parts.primal * dt_;
  dnu_accepted_ += parts.dual * dnu_;
}

void PrimalDualMethod::add_correction(const CorrectionParts& parts) {
  add_unknowns_of_correction(parts);
  convexity_.add_correction(field_.data(), parts);
  for (Cone* cone : norm_cones_) cone->add_correction(nullptr, parts);
  hinge_passes().add_correction(hinge_rows(), field_.data(), parts);
}

// In one pass, which takes little longer than either.
void PrimalDualMethod::add_and_aim_correction(const CorrectionParts& parts, const CentralAim& aim) {
  add_unknowns_of_correction(parts);
  convexity_.add_and_aim_central(field_.data(), parts, aim);
  for (Cone* cone : norm_cones_) cone->add_and_aim_central(nullptr, parts, aim);
  hinge_passes().add_and_aim_central(hinge_rows(), field_.data(), parts, aim, convexity_.dy.data());
}

// dx_, dt_, dnu_, the norm cones' dy, and dD in field_. `field`: the right-hand sides of D, which may be field_ itself.
void PrimalDualMethod::solve_newton(Solve what, const double* field) {
  const bool direction = what == Solve::kDirection;
  residual_share_ = direction ? 1 : 0;
  grid_.adjoint(field, rhs_.data(), rhs_.data() + p_.z_count);
  rhs_(x_.size() - 1) = 0;
  reduce_norm_rhs();
  rhs_ -= residual_share_ * dual_residual_x_;

  // A correction becomes part of a direction, and need not be more accurate than that is.
  const double own_norm = rhs_.lpNorm<Eigen::Infinity>();
  rhs_norm_ = direction ? own_norm : std::max(rhs_norm_, own_norm);
  const double wanted = std::max(harmless_residual(), (normal_.uses_update() ? 1e-12 : 1e-15) * rhs_norm_);
  const double reached = normal_.solve(rhs_, dx_, wanted);
  // The update's factorization is left to conjugate gradients to correct for longer: what follows it costs much more.
  const double tolerated = (normal_.uses_update() ? 1e-6 : 1e-9) * rhs_norm_;
  // The dual residual would grow, and take more off the bound than the gap that there is.
  const double growth = measures_.dual_residual > 0 ? reached / measures_.dual_residual : 0;
  harmful_solve_ = growth > 3 && measures_.dual_damage * growth > std::abs(measures_.primal - measures_.dual);
  if (direction) {
    const bool poor = reached > tolerated && (harmful_solve_ || reached > 30 * wanted);
    poor_solves_ = poor ? poor_solves_ + 1 : 0;
  }

  // Back to everything that was eliminated.
  grid_.apply(dx_.data(), dx_.data() + p_.z_count, field_.data());
  recover_norm();
  for (std::size_t q = 0; q < equalities_.size(); ++q) {
    const Index i = equalities_[q];
    dnu_(static_cast<Index>(q)) = -(residual_share_ * divergence_(i) + field_(i)) / kDelta;
  }
}

// Right-hand side of t into dt_, and its elimination from those of a and L.
void PrimalDualMethod::reduce_norm_rhs() {
  const NormalWeights& w = normal_.weights();
  auto rhs_slopes = slopes_of(rhs_);
  double& rhs_lipschitz = rhs_(x_.size() - 1);
  rhs_slopes += lower_.dy - upper_.dy;
  rhs_lipschitz = norm_.dy.sum() - (bound_.count > 0 ? bound_.dy(0) : 0);
  for (Index k = 0; k < p_.pieces; ++k) {
    double along = 0, sum = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      dt_(i) = -residual_share_ * dual_residual_t_(i) + upper_.dy(i) + lower_.dy(i) - p_.norm_weight(j) * norm_.dy(k);
      along += p_.norm_weight(j) * dt_(i) / (upper_.weight(i) + lower_.weight(i));
    }
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = upper_.weight(i), lower = lower_.weight(i), q = p_.norm_weight(j);
      const double solved = (dt_(i) - w.norm(k) * along * q) / (upper + lower);
      rhs_slopes(i) -= (lower - upper) * solved;
      sum += q * solved;
    }
    rhs_lipschitz += norm_.weight(k) * sum;
  }
}

void PrimalDualMethod::recover_norm() {
  const NormalWeights& w = normal_.weights();
  const auto da = slopes_of(dx_);
  const double d_lipschitz = dx_(x_.size() - 1);
  for (Index k = 0; k < p_.pieces; ++k) {
    double along = 0, sum = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = upper_.weight(i), lower = lower_.weight(i), q = p_.norm_weight(j);
      dt_(i) += -(lower - upper) * da(i) + norm_.weight(k) * q * d_lipschitz;
      along += q * dt_(i) / (upper + lower);
    }
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = upper_.weight(i), lower = lower_.weight(i), q = p_.norm_weight(j);
      dt_(i) = (dt_(i) - w.norm(k) * along * q) / (upper + lower);
      sum += q * dt_(i);
      upper_.dy(i) -= upper * (dt_(i) - da(i));
      lower_.dy(i) -= lower * (dt_(i) + da(i));
    }
    norm_.dy(k) -= norm_.weight(k) * (d_lipschitz - sum);
  }
  if (bound_.count > 0) bound_.dy(0) += bound_.weight(0) * d_lipschitz;
}

}  // namespace bregmax::internal
