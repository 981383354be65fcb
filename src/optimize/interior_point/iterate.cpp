#include "optimize/interior_point/iterate.hpp"

#include <algorithm>
#include <cmath>

namespace bregmax::internal {

Iterate::Iterate(const CanonicalProblem& canonical, const InteriorPointSettings& settings, Recovery& recovery)
    : problem(canonical),
      entries(canonical),
      grid(canonical, entries),
      cones{&convexity, &upper, &lower, &norm, &bound, &over, &nonneg},
      norm_cones{&upper, &lower, &norm, &bound},
      plus(canonical.single.size() + canonical.coupled.size()),
      minus(plus.size()),
      equalities(canonical.equality_entries.size()),
      settings_(settings),
      recovery_(recovery),
      bound_value_(canonical.bound) {
  value = zero_unknowns();
  residual_x = value.x;
  residual_t = value.t;
  residual_zeta = value.zeta;
  for (Vector* v : {&divergence_storage_, &newton_storage_}) v->setZero(problem.entries());
  if (problem.has_linear) linear_.setZero(problem.entries());
  if (!entries.complete()) {
    for (Vector* v : {&everywhere_, &kept_slack_, &kept_multiplier_}) v->setZero(problem.entries());
  }
  non_constraints_.reserve(problem.zero_entries.size() + problem.equality_entries.size());
  const bool bounded = std::isfinite(problem.bound);
  free_bound_ = problem.has_quadratic && !bounded &&
                problem.lambda <= settings_.free_bound_price * problem.zero_objective / problem.objective_unit &&
                recovery_.use(Remedy::kFreeBound);
  convexity.reserve(problem.entries(), entries.size());
  upper.resize(slopes());
  lower.resize(slopes());
  norm.resize(problem.pieces);
  bound.resize(bounded || free_bound_ ? 1 : 0);
  over.resize(hinges());
  nonneg.resize(hinges());
  bind_entries();
  if (problem.features > 0) {
    const auto range =
        (problem.location.colwise().maxCoeff() - problem.location.colwise().minCoeff()).transpose().eval();
    flow_reach_ = (range.array() / problem.norm_weight.array()).maxCoeff();
  }
}

Unknowns Iterate::zero_unknowns() const {
  return {Vector::Zero(problem.z_count + slopes() + 1), Vector::Zero(slopes()), Vector::Zero(hinges()),
          Vector::Zero(std::ssize(equalities))};
}

const HingeItem& Iterate::hinge(Index t) const {
  const Index singles = std::ssize(problem.single);
  return t < singles ? problem.single[t] : problem.coupled[t - singles];
}

double Iterate::hinge_argument(Index t) const {
  return (plus[t] == kNoEntry ? 0 : divergence(plus[t])) - divergence(minus[t]);
}

void Iterate::clear_non_constraints(Cone::View& values) const {
  for (const Index i : non_constraints_) values(i) = 0;
}

// Updates everything that depends on positions in the working set.
void Iterate::bind_entries() {
  const Index size = entries.size();
  convexity.set_size(size);
  new (&divergence) Cone::View(divergence_storage_.data(), size);
  for (Cone::View* view : {&right_side, &divergence_change, &derivative_}) {
    new (view) Cone::View(newton_storage_.data(), size);
  }
  for (Index t = 0; t < hinges(); ++t) {
    plus[t] = hinge(t).plus == kNoEntry ? kNoEntry : entries.position(hinge(t).plus);
    minus[t] = entries.position(hinge(t).minus);
  }
  non_constraints_.clear();
  for (const Index e : problem.zero_entries) {
    if (entries.contains(e)) non_constraints_.push_back(entries.position(e));
  }
  for (std::size_t q = 0; q < equalities.size(); ++q) {
    equalities[q] = entries.position(problem.equality_entries[q]);
    non_constraints_.push_back(equalities[q]);
  }
  if (problem.has_linear) {
    for (Index i = 0; i < size; ++i) linear_(i) = problem.linear(entries.entry(i));
  }
  convexity.count = size - std::ssize(non_constraints_);
  // On a complete grid most constraints are never active, and they dominate the mean product. Counting them twice keeps
  // the corrector's target lower. By measurement, this halves the share of hard problems that end without a proof.
  product_count = entries.complete() ? convexity.count : 0;
  for (const Cone* cone : cones) product_count += cone->count;
}

// Recomputes D, and adds entries with a low divergence to the working set.
void Iterate::measure_divergences() {
  Vector& all = entries.complete() ? divergence_storage_ : everywhere_;
  grid.apply_everywhere(value.x.data(), value.x.data() + problem.z_count, all.data());
  measures.violation = -all.minCoeff();
  measures.divergence_scale = std::max(1.0, all.maxCoeff());
  if (entries.complete()) return;
  add_low_entries();
  for (Index i = 0; i < entries.size(); ++i) divergence(i) = everywhere_(entries.entry(i));
}

void Iterate::add_low_entries() {
  for (const Index e : problem.zero_entries) everywhere_(e) = settings_.low_divergence;
  const Index before = entries.size();
  Index added = 0;
  for (Index i = 0; i < before; ++i) {
    kept_slack_(entries.entry(i)) = convexity.s(i);
    kept_multiplier_(entries.entry(i)) = convexity.y(i);
  }
  for (Index e = 0; e < problem.entries(); ++e) {
    if (everywhere_(e) >= settings_.low_divergence || entries.contains(e)) continue;
    entries.add(e);
    ++added;
    // The slack has the size of D, and s y is the mean product.
    kept_slack_(e) = std::max(std::abs(everywhere_(e)), settings_.low_divergence);
    kept_multiplier_(e) = measures.mu / kept_slack_(e);
  }
  if (added == 0) return;
  entries.renumber();
  bind_entries();
  for (Index i = 0; i < entries.size(); ++i) {
    convexity.s(i) = kept_slack_(entries.entry(i));
    convexity.y(i) = kept_multiplier_(entries.entry(i));
  }
}

// Starts from the generator kappa ||x||^2 / 2, which is strictly convex: with K = n every free entry of D is positive.
void Iterate::start() {
  const double kappa = start_slope_limit();
  for (Index k = 0; k < problem.pieces; ++k) {
    const auto anchor = problem.anchor.row(k).transpose().array();
    value.x(problem.z_of_piece[k]) = 0.5 * kappa * anchor.square().sum();
    slopes_of(value.x).segment(k * problem.features, problem.features) = (kappa * anchor).matrix();
  }
  // Multipliers are of the order of magnitude of the losses' derivatives.
  double mu = settings_.start_product;
  if (problem.has_quadratic)
    mu = std::max(mu, settings_.start_product * (problem.quadratic.array() * problem.target.array().abs()).maxCoeff());
  start_norm(mu);
  measures.mu = mu;
  grid.apply(value.x.data(), value.x.data() + problem.z_count, divergence.data());
  const double mean = divergence.size() > 0 ? divergence.cwiseAbs().mean() : 0;
  convexity.s = divergence.cwiseMax(std::max(settings_.start_slack, settings_.start_slack_of_mean * mean));
  for (const Index i : non_constraints_) convexity.s(i) = 1;
  for (Cone* cone : {&convexity, &upper, &lower, &norm, &bound}) cone->y = mu * cone->s.cwiseInverse();
  // A cost of D is met by the multiplier of D >= 0.
  if (problem.has_linear) convexity.y += linear_.head(entries.size());
  clear_non_constraints(convexity.y);
  start_hinges();
}

double Iterate::start_slope_limit() const {
  const double of_all_features = problem.coupled.empty() ? settings_.start_slopes : settings_.start_slopes_comparisons;
  return of_all_features / static_cast<double>(std::max<Index>(1, problem.features));
}

void Iterate::start_norm(double& mu) {
  auto a = slopes_of(value.x);
  const double limit = start_slope_limit();
  double largest = 0;
  for (Index k = 0; k < problem.pieces; ++k) {
    value.t.segment(k * problem.features, problem.features) =
        (a.segment(k * problem.features, problem.features).array().abs() + limit).matrix();
    largest = std::max(largest, value.t.segment(k * problem.features, problem.features).dot(problem.norm_weight));
  }
  if (free_bound_) {
    const double asked = (problem.quadratic.array() > 0).select(problem.target.array().abs(), 0).maxCoeff();
    bound_value_ = settings_.free_bound * (asked > 0 ? asked : 1);
  }
  lipschitz() = settings_.start_lipschitz * largest;
  if (lipschitz() > settings_.start_in_bound * bound_value_) {
    const double shrink = settings_.start_in_bound * bound_value_ / lipschitz();
    value.x *= shrink;
    value.t *= shrink;
    largest *= shrink;
  }
  // At the optimum the multipliers of the norms sum to lambda, so they start at that order of magnitude.
  mu = std::max(mu, problem.lambda * largest / static_cast<double>(problem.pieces));
  upper.s = value.t - a;
  lower.s = value.t + a;
  for (Index k = 0; k < problem.pieces; ++k) {
    norm.s(k) = lipschitz() - value.t.segment(k * problem.features, problem.features).dot(problem.norm_weight);
  }
  if (bound.count > 0) bound.s(0) = bound_value_ - lipschitz();
}

// The two multipliers of a hinge sum to its weight at the start, and steps do not change the sum.
void Iterate::start_hinges() {
  for (Index t = 0; t < hinges(); ++t) {
    const double argument = hinge(t).margin + hinge_argument(t);
    value.zeta(t) = std::max(argument, 0.0) + settings_.start_hinge * hinge(t).margin;
    over.s(t) = value.zeta(t) - argument;
    nonneg.s(t) = value.zeta(t);
    const double share = nonneg.s(t) / (over.s(t) + nonneg.s(t));
    over.y(t) = hinge(t).weight * share;
    nonneg.y(t) = hinge(t).weight * (1 - share);
  }
}

void Iterate::measure() {
  measure_divergences();
  convexity.r = divergence - convexity.s;
  clear_non_constraints(convexity.r);
  derivative_ = -convexity.y;
  double loss = 0, dual = 0, largest_norm = 0, damage = 0;
  if (problem.has_linear) {
    derivative_ += linear_.head(entries.size());
    loss += linear_.head(entries.size()).dot(divergence);
  }
  if (problem.has_quadratic) {
    for (Index i = 0; i < entries.size(); ++i) {
      const double quadratic = problem.quadratic(entries.entry(i)), target = problem.target(entries.entry(i));
      const double error = divergence(i) - target;
      derivative_(i) += 2 * quadratic * error;
      loss += quadratic * error * error;
      dual += quadratic * (target * target - divergence(i) * divergence(i));
    }
  }
  measures.primal_residual = 0;
  for (std::size_t q = 0; q < equalities.size(); ++q) {
    derivative_(equalities[q]) -= value.nu(q);
    measures.violation = std::max(measures.violation, std::abs(divergence(equalities[q])));
  }
  measure_hinges(loss, dual);
  grid.adjoint(derivative_.data(), residual_x.data(), residual_x.data() + problem.z_count);
  residual_x(value.x.size() - 1) = 0;
  const auto z = value.x.head(problem.z_count);
  const double z_error = residual_x.head(problem.z_count).lpNorm<1>();
  measures.dual_damage = z_error * (z.maxCoeff() - z.minCoeff());
  measure_norm(dual, largest_norm, damage);
  // The certificate moves flow between nearby pieces, and pays for what is then still infeasible with a Lipschitz
  // constant.
  const double reach = settings_.price_reach * largest_norm;
  const double paid =
      problem.lambda > 0 ? std::min(reach, (loss + problem.lambda * largest_norm) / problem.lambda) : reach;
  measures.dual_damage += (damage + settings_.flow_distance * flow_reach_ * z_error) * paid;
  measures.primal = loss + problem.lambda * largest_norm;
  measures.dual = dual;
  measures.dual_residual = residual_x.lpNorm<Eigen::Infinity>();
  double products = 0;
  for (const Cone* cone : cones) {
    if (cone->count == 0) continue;
    products += cone->s.dot(cone->y);
    measures.primal_residual = std::max(measures.primal_residual, cone->r.lpNorm<Eigen::Infinity>());
  }
  measures.mu = products / static_cast<double>(std::max<Index>(1, product_count));
}

void Iterate::measure_hinges(double& loss, double& dual) {
  for (Index t = 0; t < hinges(); ++t) {
    const HingeItem& item = hinge(t);
    const double argument = item.margin + hinge_argument(t);
    over.r(t) = value.zeta(t) - argument - over.s(t);
    nonneg.r(t) = value.zeta(t) - nonneg.s(t);
    residual_zeta(t) = item.weight - over.y(t) - nonneg.y(t);
    if (plus[t] != kNoEntry) derivative_(plus[t]) += over.y(t);
    derivative_(minus[t]) -= over.y(t);
    loss += item.weight * std::max(0.0, argument);
    dual += over.y(t) * item.margin;
  }
}

void Iterate::measure_norm(double& dual, double& largest_norm, double& damage) {
  const auto a = slopes_of(value.x);
  auto residual = slopes_of(residual_x);
  residual += upper.y - lower.y;
  upper.r = value.t - a - upper.s;
  lower.r = value.t + a - lower.s;
  double& lipschitz_residual = residual_x(value.x.size() - 1);
  lipschitz_residual = problem.lambda - norm.y.sum();
  for (Index k = 0; k < problem.pieces; ++k) {
    double length = 0, used = 0, worst = 0;
    for (Index j = 0; j < problem.features; ++j) {
      const Index i = k * problem.features + j;
      length += problem.norm_weight(j) * std::abs(a(i));
      used += problem.norm_weight(j) * value.t(i);
      residual_t(i) = -upper.y(i) - lower.y(i) + problem.norm_weight(j) * norm.y(k);
      worst = std::max(worst, (std::abs(residual(i)) + std::abs(residual_t(i))) / problem.norm_weight(j));
    }
    largest_norm = std::max(largest_norm, length);
    damage += worst;
    norm.r(k) = lipschitz() - used - norm.s(k);
  }
  if (bound.count > 0) {
    bound.r(0) = bound_value_ - lipschitz() - bound.s(0);
    lipschitz_residual += bound.y(0);
    dual -= bound_value_ * bound.y(0);
  }
  damage += std::abs(lipschitz_residual);
}

void Iterate::widen_free_bound() {
  if (!free_bound_ || bound.y(0) * bound_value_ < settings_.free_bound_worth * measures.gap() ||
      lipschitz() < settings_.free_bound_rest * bound_value_ || !recovery_.use(Remedy::kWidenFreeBound)) {
    return;
  }
  const double before = bound.s(0);
  bound.s(0) += (settings_.free_bound_growth - 1) * bound_value_;
  bound.y(0) *= before / bound.s(0);
  bound_value_ *= settings_.free_bound_growth;
  measure();
}

PrimalPoint Iterate::primal_point() const {
  return {value.x.head(problem.z_count),
          slopes_of(value.x).reshaped<Eigen::RowMajor>(problem.pieces, problem.features)};
}

DualPoint Iterate::dual_point() const {
  DualPoint point;
  point.entries = point.divergence = Vector::Zero(problem.entries());
  for (Index i = 0; i < entries.size(); ++i) {
    point.entries(entries.entry(i)) = convexity.y(i);
    point.divergence(entries.entry(i)) = divergence(i);
  }
  point.equality = value.nu;
  point.price = norm.y;
  point.single = over.y.head(std::ssize(problem.single));
  point.coupled = over.y.tail(std::ssize(problem.coupled));
  return point;
}

}  // namespace bregmax::internal
