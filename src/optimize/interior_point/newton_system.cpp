#include "optimize/interior_point/newton_system.hpp"

#include <algorithm>
#include <cmath>

namespace bregmax::internal {

NewtonSystem::NewtonSystem(Iterate& iterate, const InteriorPointSettings& settings, Recovery& recovery)
    : iterate_(iterate),
      problem_(iterate.problem),
      settings_(settings),
      recovery_(recovery),
      normal_(iterate.problem, iterate.entries, iterate.grid) {
  change = accepted = iterate.zero_unknowns();
  rhs_ = change.x;
  inverse_sum_.setZero(iterate_.hinges());
}

bool NewtonSystem::factor(double proximal, bool with_quadratic) {
  proximal_ = proximal;
  for (int attempt = 1;; ++attempt) {
    set_weights(proximal_, with_quadratic);
    if (normal_.factor()) return true;
    if (attempt >= settings_.factor_attempts || !recovery_.use(Remedy::kRetryFactorization)) return false;
    proximal_ *= settings_.factor_growth;
  }
}

void NewtonSystem::set_weights(double proximal, bool with_quadratic) {
  NormalWeights& w = normal_.weights();
  w.proximal = proximal;
  for (Cone* cone : iterate_.cones) set_inverse(cone->rows());
  const Index size = iterate_.entries.size();
  w.grid.head(size) = iterate_.convexity.y.cwiseProduct(iterate_.convexity.inverse);
  if (problem_.has_quadratic && with_quadratic) {
    for (Index i = 0; i < size; ++i) w.grid(i) += 2 * problem_.quadratic(iterate_.entries.entry(i));
  }
  for (const Index i : iterate_.equalities) w.grid(i) = 1 / settings_.dual_proximal;
  const Index singles = std::ssize(problem_.single);
  for (Index t = 0; t < iterate_.hinges(); ++t) {
    const double over = iterate_.over.weight(t), nonneg = iterate_.nonneg.weight(t);
    inverse_sum_(t) = over + nonneg > 0 ? 1 / (over + nonneg) : 0;
    const double reduced = over * nonneg * inverse_sum_(t);
    if (t < singles) {
      w.grid(iterate_.minus[t]) += reduced;
    } else {
      w.coupled(t - singles) = reduced;
    }
  }
  w.lipschitz = iterate_.bound.count > 0 ? iterate_.bound.weight(0) : 0;
  set_norm_weights();
}

// Eliminating t_k, whose matrix is T = diag(u + l) + w q q', leaves diag(4 u l / (u + l)) + w / (1 + w sum) f f' on
// a_k, f = q (l - u) / (u + l); written so that nothing cancels.
void NewtonSystem::set_norm_weights() {
  NormalWeights& w = normal_.weights();
  for (Index k = 0; k < problem_.pieces; ++k) {
    double sum = 0;
    for (Index j = 0; j < problem_.features; ++j) {
      const Index i = k * problem_.features + j;
      const double upper = iterate_.upper.weight(i), lower = iterate_.lower.weight(i), q = problem_.norm_weight(j);
      sum += q * q / (upper + lower);
      w.slope_diagonal(k, j) = 4 * upper * lower / (upper + lower);
      w.slope_rank_one(k, j) = q * (lower - upper) / (upper + lower);
    }
    w.norm(k) = iterate_.norm.weight(k) / (1 + iterate_.norm.weight(k) * sum);
  }
}

// How much of the dual residual a direction may leave: a part of it, or more if that costs little of the gap.
double NewtonSystem::harmless_residual() const {
  const IterateMeasures& now = iterate_.measures;
  double part = settings_.residual_part;
  if (now.dual_damage > 0) part = std::max(part, settings_.residual_harm * now.gap() / now.dual_damage);
  return part * now.dual_residual;
}

HingeRows NewtonSystem::hinge_rows() {
  return {iterate_.over.rows(), iterate_.nonneg.rows(), inverse_sum_.data(), iterate_.residual_zeta.data(),
          iterate_.plus.data(), iterate_.minus.data(),  change.zeta.data(),  accepted.zeta.data()};
}

StepRates NewtonSystem::solve_direction() {
  iterate_.right_side = iterate_.convexity.dy;
  for (const Index i : iterate_.equalities) iterate_.right_side(i) = -iterate_.divergence(i) / settings_.dual_proximal;
  eliminate_zeta(hinge_rows(), iterate_.right_side.data());
  solve(Solve::kDirection, iterate_.right_side.data());
  recover_zeta(hinge_rows(), iterate_.divergence_change.data());
  StepRates rates;
  finish_direction(iterate_.convexity.rows(), iterate_.divergence_change.data(), rates);
  for (Cone* cone : iterate_.cones) {
    if (cone != &iterate_.convexity) finish_direction(cone->rows(), nullptr, rates);
  }
  return rates;
}

void NewtonSystem::accept() {
  for (Cone* cone : iterate_.cones) cone->accept_direction();
  std::swap(change, accepted);
}

// The rest of a correction is computed when it is added, from the change of D.
PartRates NewtonSystem::solve_correction(const StepRates& accepted_rates) {
  solve(Solve::kCorrection, iterate_.convexity.dy.data());
  PartRates rates;
  rates[0] = accepted_rates;
  rate_correction(iterate_.convexity.rows(), iterate_.divergence_change.data(), rates);
  for (Cone* cone : iterate_.norm_cones) rate_correction(cone->rows(), nullptr, rates);
  rate_correction(hinge_rows(), iterate_.divergence_change.data(), rates);
  return rates;
}

// The right-hand sides of a correction are gathered in dy of the convexity cone. For an equality this is 0 before
// hinges are added, since its multiplier in that cone is 0.
void NewtonSystem::aim_correction(const CentralAim& aim) {
  aim_central(iterate_.convexity.rows(), aim);
  for (Cone* cone : iterate_.norm_cones) aim_central(cone->rows(), aim);
  aim_central(hinge_rows(), aim, iterate_.convexity.dy.data());
}

void NewtonSystem::add_correction(const CorrectionParts& parts, const CentralAim* next) {
  accepted.x += parts.primal * change.x;
  accepted.t += parts.primal * change.t;
  accepted.nu += parts.dual * change.nu;
  take_correction(iterate_.convexity.rows(), iterate_.divergence_change.data(), parts, next);
  for (Cone* cone : iterate_.norm_cones) take_correction(cone->rows(), nullptr, parts, next);
  take_correction(hinge_rows(), iterate_.divergence_change.data(), parts, next, iterate_.convexity.dy.data());
}

bool NewtonSystem::move(double primal_step, double dual_step) {
  const auto is_finite = [](const Cone* cone) {
    return std::isfinite(cone->ds_accepted.sum()) && std::isfinite(cone->dy_accepted.sum());
  };
  const Unknowns& by = accepted;
  if (!by.x.allFinite() || !by.t.allFinite() || !by.zeta.allFinite() || !by.nu.allFinite()) return false;
  if (!std::ranges::all_of(iterate_.cones, is_finite)) return false;
  iterate_.value.x += primal_step * by.x;
  iterate_.value.t += primal_step * by.t;
  iterate_.value.zeta += primal_step * by.zeta;
  iterate_.value.nu += dual_step * by.nu;
  for (Cone* cone : iterate_.cones) {
    cone->s += primal_step * cone->ds_accepted;
    cone->y += dual_step * cone->dy_accepted;
  }
  return true;
}

void NewtonSystem::solve(Solve what, const double* right_side) {
  const double residual_share = what == Solve::kDirection ? 1 : 0;  // a correction leaves the residuals unchanged
  iterate_.grid.adjoint(right_side, rhs_.data(), rhs_.data() + problem_.z_count);
  rhs_(rhs_.size() - 1) = 0;
  reduce_norm_rhs(residual_share);
  rhs_ -= residual_share * iterate_.residual_x;

  // A correction becomes part of a direction, and need not be more accurate than the direction.
  const double own_norm = rhs_.lpNorm<Eigen::Infinity>();
  rhs_norm_ = what == Solve::kDirection ? own_norm : std::max(rhs_norm_, own_norm);
  const double accuracy = uses_downdate() ? settings_.solve_accuracy_downdate : settings_.solve_accuracy;
  const double wanted = std::max(harmless_residual(), accuracy * rhs_norm_);
  judge(what, normal_.solve(rhs_, change.x, wanted), wanted);

  // Recovers everything that was eliminated.
  iterate_.grid.apply(change.x.data(), change.x.data() + problem_.z_count, iterate_.divergence_change.data());
  recover_norm();
  for (std::size_t q = 0; q < iterate_.equalities.size(); ++q) {
    const Index i = iterate_.equalities[q];
    change.nu(q) = -(residual_share * iterate_.divergence(i) + iterate_.divergence_change(i)) / settings_.dual_proximal;
  }
}

// `reached`, `wanted`: the residual of the normal equations.
void NewtonSystem::judge(Solve what, double reached, double wanted) {
  const IterateMeasures& now = iterate_.measures;
  const double growth = now.dual_residual > 0 ? reached / now.dual_residual : 0;
  harmful_ = growth > settings_.harmful_growth && now.dual_damage * growth > now.gap();
  if (what == Solve::kCorrection) return;
  const double tolerated = (uses_downdate() ? settings_.tolerated_downdate : settings_.tolerated) * rhs_norm_;
  const bool poor = reached > tolerated && (harmful_ || reached > settings_.poor * wanted);
  poor_directions_ = poor ? poor_directions_ + 1 : 0;
}

// Puts the right-hand side of t into change.t, and eliminates t from those of a and L.
void NewtonSystem::reduce_norm_rhs(double residual_share) {
  const NormalWeights& w = normal_.weights();
  auto rhs_slopes = iterate_.slopes_of(rhs_);
  double& rhs_lipschitz = rhs_(rhs_.size() - 1);
  Vector& dt = change.t;
  rhs_slopes += iterate_.lower.dy - iterate_.upper.dy;
  rhs_lipschitz = iterate_.norm.dy.sum() - (iterate_.bound.count > 0 ? iterate_.bound.dy(0) : 0);
  for (Index k = 0; k < problem_.pieces; ++k) {
    double along = 0, sum = 0;
    for (Index j = 0; j < problem_.features; ++j) {
      const Index i = k * problem_.features + j;
      dt(i) = -residual_share * iterate_.residual_t(i) + iterate_.upper.dy(i) + iterate_.lower.dy(i) -
              problem_.norm_weight(j) * iterate_.norm.dy(k);
      along += problem_.norm_weight(j) * dt(i) / (iterate_.upper.weight(i) + iterate_.lower.weight(i));
    }
    for (Index j = 0; j < problem_.features; ++j) {
      const Index i = k * problem_.features + j;
      const double upper = iterate_.upper.weight(i), lower = iterate_.lower.weight(i), q = problem_.norm_weight(j);
      const double solved = (dt(i) - w.norm(k) * along * q) / (upper + lower);
      rhs_slopes(i) -= (lower - upper) * solved;
      sum += q * solved;
    }
    rhs_lipschitz += iterate_.norm.weight(k) * sum;
  }
}

void NewtonSystem::recover_norm() {
  const NormalWeights& w = normal_.weights();
  const auto da = iterate_.slopes_of(change.x);
  const double d_lipschitz = change.x(change.x.size() - 1);
  Vector& dt = change.t;
  for (Index k = 0; k < problem_.pieces; ++k) {
    double along = 0, sum = 0;
    for (Index j = 0; j < problem_.features; ++j) {
      const Index i = k * problem_.features + j;
      const double upper = iterate_.upper.weight(i), lower = iterate_.lower.weight(i), q = problem_.norm_weight(j);
      dt(i) += -(lower - upper) * da(i) + iterate_.norm.weight(k) * q * d_lipschitz;
      along += q * dt(i) / (upper + lower);
    }
    for (Index j = 0; j < problem_.features; ++j) {
      const Index i = k * problem_.features + j;
      const double upper = iterate_.upper.weight(i), lower = iterate_.lower.weight(i), q = problem_.norm_weight(j);
      dt(i) = (dt(i) - w.norm(k) * along * q) / (upper + lower);
      sum += q * dt(i);
      iterate_.upper.dy(i) -= upper * (dt(i) - da(i));
      iterate_.lower.dy(i) -= lower * (dt(i) + da(i));
    }
    iterate_.norm.dy(k) -= iterate_.norm.weight(k) * (d_lipschitz - sum);
  }
  if (iterate_.bound.count > 0) iterate_.bound.dy(0) += iterate_.bound.weight(0) * d_lipschitz;
}

}  // namespace bregmax::internal
