#include "optimize/interior_point/step_rule.hpp"

#include <algorithm>

namespace bregmax::internal {

void StepRule::predict() {
  for (Cone* cone : iterate_.cones) aim_at(0, cone->rows());
  set_steps(newton_.solve_direction());
}

double StepRule::target_product(double least_mu) const {
  double after = 0;
  for (const Cone* cone : iterate_.cones) {
    if (cone->count == 0) continue;
    after += (cone->s + primal_ * cone->ds).dot(cone->y + dual_ * cone->dy);
  }
  const double mu = iterate_.measures.mu;
  const double ratio = mu > 0 ? after / (mu * static_cast<double>(iterate_.product_count)) : 0;
  const double sigma = std::min(ratio * ratio * ratio, settings_.most_sigma);
  return std::max({mu * sigma, settings_.least_sigma * mu, std::min(mu, least_mu)});
}

void StepRule::center(double target) {
  for (Cone* cone : iterate_.cones) aim_at(target, cone->rows());
  accept();
}

void StepRule::correct(double target) {
  for (Cone* cone : iterate_.cones) aim_corrected(target, cone->rows());
  accept();
}

void StepRule::accept() {
  const StepRates rates = newton_.solve_direction();
  newton_.accept();
  set_steps(rates);
}

// A correction is added in the pass that aims the next one, or at the end.
void StepRule::correct_centrality(double target) {
  const InteriorPointSettings& set = settings_;
  CorrectionParts parts;
  for (int round = 0; round < set.correctors && std::min(primal_, dual_) < set.long_step; ++round) {
    const CentralAim aim = {std::min(1.0, set.aim_growth * primal_ + set.aim_more),
                            std::min(1.0, set.aim_growth * dual_ + set.aim_more), set.low_product * target,
                            set.high_product * target};
    round == 0 ? newton_.aim_correction(aim) : newton_.add_correction(parts, &aim);
    const double before = primal_ + dual_;
    const PartRates rates = newton_.solve_correction({1 / primal_, 1 / dual_});
    if (!newton_.change.x.allFinite()) return;
    parts = choose_parts(rates);
    if (primal_ + dual_ < before + set.worthwhile_growth) break;
  }
  if (parts.primal > 0 || parts.dual > 0) newton_.add_correction(parts);
}

// Colombo and Gondzio: chooses the part of a correction that makes the steps longest, and sets these steps. Slacks and
// multipliers meet only in the products, so they may take different parts.
CorrectionParts StepRule::choose_parts(const PartRates& rates) {
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

void StepRule::set_steps(const StepRates& rates) {
  primal_ = 1 / rates.primal;
  dual_ = 1 / rates.dual;
  // A quadratic objective ties the dual residual to the primal step.
  if (iterate_.problem.has_quadratic) primal_ = dual_ = std::min(primal_, dual_);
}

bool StepRule::move() {
  const double primal = settings_.to_boundary * primal_, dual = settings_.to_boundary * dual_;
  if (!newton_.move(primal, dual)) return false;
  const Vector& dx = newton_.accepted.x;
  const Cone& convexity = iterate_.convexity;
  last_.primal_to_boundary = primal_;
  last_.longest = std::max(primal, dual);
  last_.dual_residual = newton_.proximal() * primal * dx.head(dx.size() - 1).lpNorm<Eigen::Infinity>();
  last_.convexity_residual =
      convexity.dy_accepted.size() > 0 ? convexity.delta * dual * convexity.dy_accepted.lpNorm<Eigen::Infinity>() : 0;
  return true;
}

}  // namespace bregmax::internal
