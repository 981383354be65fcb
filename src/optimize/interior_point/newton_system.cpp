#include "optimize/interior_point/newton_system.hpp"

#include <algorithm>
#include <cmath>

#include "optimize/problem/at.hpp"

namespace bregmax::internal {

NewtonSystem::NewtonSystem(Iterate& iterate, const InteriorPointSettings& settings, Recovery& recovery)
    : at_(iterate),
      p_(iterate.p),
      settings_(settings),
      recovery_(recovery),
      normal_(iterate.p, iterate.entries, iterate.grid) {
  for (Unknowns* one : {&change, &accepted}) {
    one->set_zero(normal_.size(), at_.slopes(), at_.hinges(), static_cast<Index>(at_.equalities.size()));
  }
  rhs_.setZero(normal_.size());
  inverse_sum_.setZero(at_.hinges());
}

bool NewtonSystem::factor(double proximal, bool with_quadratic) {
  proximal_ = proximal;
  for (int attempt = 0; attempt < settings_.factor_attempts; ++attempt) {
    set_weights(proximal_, with_quadratic);
    if (normal_.factor()) return true;
    if (!recovery_.use(Remedy::kRetryFactorization)) return false;
    proximal_ *= settings_.factor_growth;
  }
  return false;
}

void NewtonSystem::set_weights(double proximal, bool with_quadratic) {
  NormalWeights& w = normal_.weights();
  w.proximal = proximal;
  for (Cone* cone : at_.cones) cone->set_inverse();
  const Index size = at_.entries.size();
  w.grid.head(size) = at_.convexity.y.cwiseProduct(at_.convexity.inverse);
  if (p_.has_quadratic && with_quadratic) {
    for (Index i = 0; i < size; ++i) w.grid(i) += 2 * p_.quadratic(at_.entries.entry(i));
  }
  for (const Index i : at_.equalities) w.grid(i) = 1 / settings_.dual_proximal;
  const auto singles = static_cast<Index>(p_.single.size());
  for (Index t = 0; t < at_.hinges(); ++t) {
    const double over = at_.over.weight(t), nonneg = at_.nonneg.weight(t);
    inverse_sum_(t) = over + nonneg > 0 ? 1 / (over + nonneg) : 0;
    const double reduced = over * nonneg * inverse_sum_(t);
    if (t < singles) {
      w.grid(at_.minus[at(t)]) += reduced;
    } else {
      w.coupled(t - singles) = reduced;
    }
  }
  w.lipschitz = at_.bound.count > 0 ? at_.bound.weight(0) : 0;
  set_norm_weights();
}

// Eliminating t_k, whose matrix is T = diag(u + l) + w q q', leaves diag(4 u l / (u + l)) + w / (1 + w sum) f f' on
// a_k, f = q (l - u) / (u + l); written so that nothing cancels.
void NewtonSystem::set_norm_weights() {
  NormalWeights& w = normal_.weights();
  for (Index k = 0; k < p_.pieces; ++k) {
    double sum = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = at_.upper.weight(i), lower = at_.lower.weight(i), q = p_.norm_weight(j);
      sum += q * q / (upper + lower);
      w.slope_diagonal(k, j) = 4 * upper * lower / (upper + lower);
      w.slope_rank_one(k, j) = q * (lower - upper) / (upper + lower);
    }
    w.norm(k) = at_.norm.weight(k) / (1 + at_.norm.weight(k) * sum);
  }
}

// What a direction may leave of the dual residual: a part of it, or more where that costs little of the gap.
double NewtonSystem::harmless_residual() const {
  const IterateMeasures& now = at_.measures;
  double part = settings_.residual_part;
  if (now.dual_damage > 0) part = std::max(part, settings_.residual_harm * now.gap() / now.dual_damage);
  return part * now.dual_residual;
}

HingeRows NewtonSystem::hinge_rows() {
  return {at_.over.rows(), at_.nonneg.rows(), inverse_sum_.data(), at_.residual_zeta.data(),
          at_.plus.data(), at_.minus.data(),  change.zeta.data(),  accepted.zeta.data()};
}

StepRates NewtonSystem::solve_direction() {
  at_.field = at_.convexity.dy;
  for (const Index i : at_.equalities) at_.field(i) = -at_.divergence(i) / settings_.dual_proximal;
  hinge_passes().eliminate(hinge_rows(), at_.field.data());
  solve(Solve::kDirection, at_.field.data());
  hinge_passes().recover(hinge_rows(), at_.field.data());
  StepRates rates;
  at_.convexity.finish_direction(at_.field.data(), rates);
  for (Cone* cone : at_.cones) {
    if (cone != &at_.convexity) cone->finish_direction(nullptr, rates);
  }
  return rates;
}

void NewtonSystem::accept() {
  for (Cone* cone : at_.cones) cone->accept_direction();
  change.swap(accepted);
}

// What is left of a correction follows from dD, in the iterate's field, when it is added.
PartRates NewtonSystem::solve_correction(const StepRates& accepted_rates) {
  solve(Solve::kCorrection, at_.convexity.dy.data());
  PartRates rates;
  rates[0] = accepted_rates;
  at_.convexity.rate_correction(at_.field.data(), rates);
  for (Cone* cone : at_.norm_cones) cone->rate_correction(nullptr, rates);
  hinge_passes().rate_correction(hinge_rows(), at_.field.data(), rates);
  return rates;
}

// The convexity constraints' dy is where the right-hand sides of a correction are gathered; that of an equality is 0
// before hinges are added, since its multiplier among them is.
void NewtonSystem::aim_correction(const CentralAim& aim) {
  at_.convexity.aim_central(aim);
  for (Cone* cone : at_.norm_cones) cone->aim_central(aim);
  hinge_passes().aim_central(hinge_rows(), aim, at_.convexity.dy.data());
}

// Those of the hinges are added in their passes.
void NewtonSystem::add_unknowns(const CorrectionParts& parts) {
  accepted.x += parts.primal * change.x;
  accepted.t += parts.primal * change.t;
  accepted.nu += parts.dual * change.nu;
}

void NewtonSystem::add_correction(const CorrectionParts& parts) {
  add_unknowns(parts);
  at_.convexity.add_correction(at_.field.data(), parts);
  for (Cone* cone : at_.norm_cones) cone->add_correction(nullptr, parts);
  hinge_passes().add_correction(hinge_rows(), at_.field.data(), parts);
}

// In one pass, which takes little longer than either.
void NewtonSystem::add_and_aim_correction(const CorrectionParts& parts, const CentralAim& aim) {
  add_unknowns(parts);
  at_.convexity.add_and_aim_central(at_.field.data(), parts, aim);
  for (Cone* cone : at_.norm_cones) cone->add_and_aim_central(nullptr, parts, aim);
  hinge_passes().add_and_aim_central(hinge_rows(), at_.field.data(), parts, aim, at_.convexity.dy.data());
}

void NewtonSystem::solve(Solve what, const double* field) {
  const double residual_share = what == Solve::kDirection ? 1 : 0;  // of the residuals, which a correction leaves
  at_.grid.adjoint(field, rhs_.data(), rhs_.data() + p_.z_count);
  rhs_(rhs_.size() - 1) = 0;
  reduce_norm_rhs(residual_share);
  rhs_ -= residual_share * at_.residual_x;

  // A correction becomes part of a direction, and need not be more accurate than that is.
  const double own_norm = rhs_.lpNorm<Eigen::Infinity>();
  rhs_norm_ = what == Solve::kDirection ? own_norm : std::max(rhs_norm_, own_norm);
  const double accuracy = uses_update() ? settings_.solve_accuracy_update : settings_.solve_accuracy;
  const double wanted = std::max(harmless_residual(), accuracy * rhs_norm_);
  judge(what, normal_.solve(rhs_, change.x, wanted), wanted);

  // Back to everything that was eliminated.
  at_.grid.apply(change.x.data(), change.x.data() + p_.z_count, at_.field.data());
  recover_norm();
  for (std::size_t q = 0; q < at_.equalities.size(); ++q) {
    const Index i = at_.equalities[q];
    change.nu(static_cast<Index>(q)) = -(residual_share * at_.divergence(i) + at_.field(i)) / settings_.dual_proximal;
  }
}

// `reached`, `wanted`: the residual of the normal equations.
void NewtonSystem::judge(Solve what, double reached, double wanted) {
  const IterateMeasures& now = at_.measures;
  const double growth = now.dual_residual > 0 ? reached / now.dual_residual : 0;
  harmful_ = growth > settings_.harmful_growth && now.dual_damage * growth > now.gap();
  if (what == Solve::kCorrection) return;
  const double tolerated = (uses_update() ? settings_.tolerated_update : settings_.tolerated) * rhs_norm_;
  const bool poor = reached > tolerated && (harmful_ || reached > settings_.poor * wanted);
  poor_directions_ = poor ? poor_directions_ + 1 : 0;
}

// Right-hand side of t into change.t, and its elimination from those of a and L.
void NewtonSystem::reduce_norm_rhs(double residual_share) {
  const NormalWeights& w = normal_.weights();
  auto rhs_slopes = at_.slopes_of(rhs_);
  double& rhs_lipschitz = rhs_(rhs_.size() - 1);
  Vector& dt = change.t;
  rhs_slopes += at_.lower.dy - at_.upper.dy;
  rhs_lipschitz = at_.norm.dy.sum() - (at_.bound.count > 0 ? at_.bound.dy(0) : 0);
  for (Index k = 0; k < p_.pieces; ++k) {
    double along = 0, sum = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      dt(i) =
          -residual_share * at_.residual_t(i) + at_.upper.dy(i) + at_.lower.dy(i) - p_.norm_weight(j) * at_.norm.dy(k);
      along += p_.norm_weight(j) * dt(i) / (at_.upper.weight(i) + at_.lower.weight(i));
    }
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = at_.upper.weight(i), lower = at_.lower.weight(i), q = p_.norm_weight(j);
      const double solved = (dt(i) - w.norm(k) * along * q) / (upper + lower);
      rhs_slopes(i) -= (lower - upper) * solved;
      sum += q * solved;
    }
    rhs_lipschitz += at_.norm.weight(k) * sum;
  }
}

void NewtonSystem::recover_norm() {
  const NormalWeights& w = normal_.weights();
  const auto da = at_.slopes_of(change.x);
  const double d_lipschitz = change.x(change.x.size() - 1);
  Vector& dt = change.t;
  for (Index k = 0; k < p_.pieces; ++k) {
    double along = 0, sum = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = at_.upper.weight(i), lower = at_.lower.weight(i), q = p_.norm_weight(j);
      dt(i) += -(lower - upper) * da(i) + at_.norm.weight(k) * q * d_lipschitz;
      along += q * dt(i) / (upper + lower);
    }
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const double upper = at_.upper.weight(i), lower = at_.lower.weight(i), q = p_.norm_weight(j);
      dt(i) = (dt(i) - w.norm(k) * along * q) / (upper + lower);
      sum += q * dt(i);
      at_.upper.dy(i) -= upper * (dt(i) - da(i));
      at_.lower.dy(i) -= lower * (dt(i) + da(i));
    }
    at_.norm.dy(k) -= at_.norm.weight(k) * (d_lipschitz - sum);
  }
  if (at_.bound.count > 0) at_.bound.dy(0) += at_.bound.weight(0) * d_lipschitz;
}

}  // namespace bregmax::internal
