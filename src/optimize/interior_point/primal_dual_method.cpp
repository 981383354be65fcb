#include "optimize/interior_point/primal_dual_method.hpp"

#include <algorithm>
#include <cmath>

#include "optimize/problem/at.hpp"

namespace bregmax::internal {
namespace {

constexpr double kSmallPrice = 1e-6;  // lambda, of the zero model's objective
constexpr double kFreeBound = 5;      // times the largest divergence that is asked for
constexpr double kLow = 0.1;          // divergence, of a margin of 1, below which a convexity constraint is taken in

}  // namespace

PrimalDualMethod::PrimalDualMethod(const CanonicalProblem& problem, Recovery& recovery)
    : p_(problem),
      recovery_(recovery),
      entries_(problem),
      grid_(problem, entries_),
      normal_(problem, entries_, grid_),
      hinges_(static_cast<Index>(problem.single.size() + problem.coupled.size())),
      bound_value_(problem.bound),
      cones_{&convexity_, &upper_, &lower_, &norm_, &bound_, &over_, &nonneg_},
      norm_cones_{&upper_, &lower_, &norm_, &bound_} {
  for (Vector* v : {&x_, &dx_, &dx_accepted_, &rhs_, &dual_residual_x_}) v->setZero(normal_.size());
  const Index norm_size = slopes();
  for (Vector* v : {&t_, &dt_, &dt_accepted_, &dual_residual_t_}) v->setZero(norm_size);
  for (Vector* v : {&zeta_, &dzeta_, &dzeta_accepted_, &dual_residual_zeta_}) v->setZero(hinges_);
  inverse_sum_.setZero(hinges_);
  const auto equalities = static_cast<Index>(p_.equality_entries.size());
  for (Vector* v : {&nu_, &dnu_, &dnu_accepted_, &kept_nu_}) v->setZero(equalities);
  for (Vector* v : {&divergence_storage_, &field_storage_}) v->setZero(p_.entries());
  if (p_.has_linear) linear_.setZero(p_.entries());
  if (!entries_.complete()) {
    for (Vector* v : {&everywhere_, &kept_slack_, &kept_multiplier_}) v->setZero(p_.entries());
  }
  for (auto* positions : {&plus_, &minus_}) positions->resize(at(hinges_));
  non_constraints_.reserve(p_.zero_entries.size() + p_.equality_entries.size());
  equalities_.resize(p_.equality_entries.size());
  convexity_.reserve(p_.entries(), entries_.size());
  upper_.resize(norm_size);
  lower_.resize(norm_size);
  norm_.resize(p_.pieces);
  // See free_bound_.
  const bool bounded = std::isfinite(p_.bound);
  free_bound_ = p_.has_quadratic && !bounded && p_.lambda <= kSmallPrice * p_.zero_objective / p_.objective_unit;
  if (free_bound_) free_bound_ = recovery_.use(Remedy::kFreeBound);
  bound_.resize(bounded || free_bound_ ? 1 : 0);
  over_.resize(hinges_);
  nonneg_.resize(hinges_);
  bind_entries();
  set_proximal_terms();
  if (p_.features > 0) {
    const auto range = (p_.location.colwise().maxCoeff() - p_.location.colwise().minCoeff()).transpose().eval();
    flow_reach_ = (range.array() / p_.norm_weight.array()).maxCoeff();
  }
}

const HingeItem& PrimalDualMethod::hinge(Index t) const {
  const auto singles = static_cast<Index>(p_.single.size());
  return t < singles ? p_.single[at(t)] : p_.coupled[at(t - singles)];
}

void PrimalDualMethod::add_hinge_to_field(Index t, double value) {
  if (plus_[at(t)] != kNoEntry) field_(plus_[at(t)]) += value;
  field_(minus_[at(t)]) -= value;
}

// Follows the positions of the set of entries.
void PrimalDualMethod::bind_entries() {
  const Index size = entries_.size();
  convexity_.set_size(size);
  new (&divergence_) Cone::View(divergence_storage_.data(), size);
  new (&field_) Cone::View(field_storage_.data(), size);
  for (Index t = 0; t < hinges_; ++t) {
    plus_[at(t)] = hinge(t).plus == kNoEntry ? kNoEntry : entries_.position(hinge(t).plus);
    minus_[at(t)] = entries_.position(hinge(t).minus);
  }
  non_constraints_.clear();
  for (const Index e : p_.zero_entries) {
    if (entries_.contains(e)) non_constraints_.push_back(entries_.position(e));
  }
  for (std::size_t q = 0; q < equalities_.size(); ++q) {
    equalities_[q] = entries_.position(p_.equality_entries[q]);
    non_constraints_.push_back(equalities_[q]);
  }
  if (p_.has_linear) {
    for (Index i = 0; i < size; ++i) linear_(i) = p_.linear(entries_.entry(i));
  }
  convexity_.count = size - static_cast<Index>(non_constraints_.size());
  // On a complete grid most constraints stay idle, and the mean product is what they make it: counted twice, they keep
  // the corrector's aim lower. That was found by measurement; it halves the share of hard problems that end early.
  count_ = entries_.complete() ? convexity_.count : 0;
  for (const Cone* cone : cones_) count_ += cone->count;
}

// Brings D up to date, and takes what has fallen low into the set.
void PrimalDualMethod::measure_divergences() {
  if (entries_.complete()) {
    grid_.apply(x_.data(), x_.data() + p_.z_count, divergence_.data());
    measures_.violation = -divergence_.minCoeff();
    measures_.divergence_scale = std::max(1.0, divergence_.maxCoeff());
    return;
  }
  grid_.apply_everywhere(x_.data(), x_.data() + p_.z_count, everywhere_.data());
  measures_.violation = -everywhere_.minCoeff();
  measures_.divergence_scale = std::max(1.0, everywhere_.maxCoeff());
  add_low_entries();
  for (Index i = 0; i < entries_.size(); ++i) divergence_(i) = everywhere_(entries_.entry(i));
}

void PrimalDualMethod::add_low_entries() {
  for (const Index e : p_.zero_entries) everywhere_(e) = kLow;
  const Index before = entries_.size();
  Index added = 0;
  for (Index i = 0; i < before; ++i) {
    kept_slack_(entries_.entry(i)) = convexity_.s(i);
    kept_multiplier_(entries_.entry(i)) = convexity_.y(i);
  }
  for (Index e = 0; e < p_.entries(); ++e) {
    if (everywhere_(e) >= kLow || entries_.contains(e)) continue;
    entries_.add(e);
    ++added;
    // As far from the boundary as D is beyond it, and as central as the others.
    kept_slack_(e) = std::max(std::abs(everywhere_(e)), kLow);
    kept_multiplier_(e) = measures_.mu / kept_slack_(e);
  }
  if (added == 0) return;
  entries_.renumber();
  bind_entries();
  for (Index i = 0; i < entries_.size(); ++i) {
    convexity_.s(i) = kept_slack_(entries_.entry(i));
    convexity_.y(i) = kept_multiplier_(entries_.entry(i));
  }
}

// The generator kappa ||x||^2 / 2 is strictly convex: every free entry of D is positive when K = n.
void PrimalDualMethod::start() {
  const double kappa = start_slope_limit();
  for (Index k = 0; k < p_.pieces; ++k) {
    const auto anchor = p_.anchor.row(k).transpose().array();
    x_(p_.z_of_piece[at(k)]) = 0.5 * kappa * anchor.square().sum();
    slopes_of(x_).segment(k * p_.features, p_.features) = (kappa * anchor).matrix();
  }
  // The order of magnitude of the multipliers: about that of the losses' slopes.
  double mu = 0.1;
  if (p_.has_quadratic) mu = std::max(mu, 0.1 * (p_.quadratic.array() * p_.target.array().abs()).maxCoeff());
  start_norm(mu);
  measures_.mu = mu;
  grid_.apply(x_.data(), x_.data() + p_.z_count, divergence_.data());
  const double mean = divergence_.size() > 0 ? divergence_.cwiseAbs().mean() : 0;
  convexity_.s = divergence_.cwiseMax(std::max(1e-3, 0.01 * mean));
  for (const Index i : non_constraints_) convexity_.s(i) = 1;
  for (Cone* cone : {&convexity_, &upper_, &lower_, &norm_, &bound_}) cone->y = mu * cone->s.cwiseInverse();
  // A cost of D is met by the multiplier of D >= 0.
  if (p_.has_linear) convexity_.y += linear_.head(entries_.size());
  clear_non_constraints(convexity_.y);
  start_hinges();
}

// Found by measurement, no start being the best for all: from 3 pairs take a tenth more iterations, and from 1 some
// comparisons do.
double PrimalDualMethod::start_slope_limit() const {
  const double of_all_features = p_.coupled.empty() ? 1 : 3;
  return of_all_features / static_cast<double>(std::max<Index>(1, p_.features));
}

void PrimalDualMethod::start_norm(double& mu) {
  auto a = slopes_of(x_);
  const double limit = start_slope_limit();
  double largest = 0;
  for (Index k = 0; k < p_.pieces; ++k) {
    t_.segment(k * p_.features, p_.features) = (a.segment(k * p_.features, p_.features).array().abs() + limit).matrix();
    largest = std::max(largest, t_.segment(k * p_.features, p_.features).dot(p_.norm_weight));
  }
  if (free_bound_) {
    const double asked = (p_.quadratic.array() > 0).select(p_.target.array().abs(), 0).maxCoeff();
    bound_value_ = kFreeBound * (asked > 0 ? asked : 1);
  }
  if (2 * largest > 0.9 * bound_value_) {
    const double shrink = 0.9 * bound_value_ / (2 * largest);
    x_ *= shrink;
    t_ *= shrink;
    largest *= shrink;
  }
  lipschitz() = 2 * largest;
  // The multipliers of the norms must come to sum to lambda: start at that order of magnitude.
  mu = std::max(mu, p_.lambda * largest / static_cast<double>(p_.pieces));
  upper_.s = t_ - a;
  lower_.s = t_ + a;
  for (Index k = 0; k < p_.pieces; ++k) {
    norm_.s(k) = lipschitz() - t_.segment(k * p_.features, p_.features).dot(p_.norm_weight);
  }
  if (bound_.count > 0) bound_.s(0) = bound_value_ - lipschitz();
}

// The two multipliers of a hinge sum to its weight from the start, so that they always do.
void PrimalDualMethod::start_hinges() {
  for (Index t = 0; t < hinges_; ++t) {
    const double value = hinge(t).margin + hinge_argument(divergence_, t);
    zeta_(t) = std::max(value, 0.0) + 0.5 * hinge(t).margin;
    over_.s(t) = zeta_(t) - value;
    nonneg_.s(t) = zeta_(t);
    const double share = nonneg_.s(t) / (over_.s(t) + nonneg_.s(t));
    over_.y(t) = hinge(t).weight * share;
    nonneg_.y(t) = hinge(t).weight * (1 - share);
  }
}

const IterateMeasures& PrimalDualMethod::measure() {
  measure_divergences();
  convexity_.r = divergence_ - convexity_.s;
  clear_non_constraints(convexity_.r);
  // field_: derivative of the Lagrangian by D.
  field_ = -convexity_.y;
  double loss = 0, dual = 0, largest_norm = 0, damage = 0;
  if (p_.has_linear) {
    field_ += linear_.head(entries_.size());
    loss += linear_.head(entries_.size()).dot(divergence_);
  }
  if (p_.has_quadratic) {
    for (Index i = 0; i < entries_.size(); ++i) {
      const double quadratic = p_.quadratic(entries_.entry(i)), target = p_.target(entries_.entry(i));
      const double error = divergence_(i) - target;
      field_(i) += 2 * quadratic * error;
      loss += quadratic * error * error;
      dual += quadratic * (target * target - divergence_(i) * divergence_(i));
    }
  }
  measures_.primal_residual = 0;
  for (std::size_t q = 0; q < equalities_.size(); ++q) {
    field_(equalities_[q]) -= nu_(static_cast<Index>(q));
    measures_.violation = std::max(measures_.violation, std::abs(divergence_(equalities_[q])));
  }
  measure_hinges(loss, dual);
  grid_.adjoint(field_.data(), dual_residual_x_.data(), dual_residual_x_.data() + p_.z_count);
  dual_residual_x_(x_.size() - 1) = 0;
  const auto z = x_.head(p_.z_count);
  const double z_error = dual_residual_x_.head(p_.z_count).lpNorm<1>();
  measures_.dual_damage = z_error * (z.maxCoeff() - z.minCoeff());
  measure_norm(dual, largest_norm, damage);
  // A bound is proved after moving flow between nearby pieces, about a tenth of the whole range, and pays for what is
  // infeasible with a Lipschitz constant (see certificate.cpp).
  const double reach = 10 * largest_norm;
  const double paid = p_.lambda > 0 ? std::min(reach, (loss + p_.lambda * largest_norm) / p_.lambda) : reach;
  measures_.dual_damage += (damage + 0.1 * flow_reach_ * z_error) * paid;
  measures_.primal = loss + p_.lambda * largest_norm;
  measures_.dual = dual;
  measures_.dual_residual = dual_residual_x_.lpNorm<Eigen::Infinity>();
  double products = 0;
  for (const Cone* cone : cones_) {
    if (cone->count == 0) continue;
    products += cone->s.dot(cone->y);
    measures_.primal_residual = std::max(measures_.primal_residual, cone->r.lpNorm<Eigen::Infinity>());
  }
  measures_.mu = products / static_cast<double>(std::max<Index>(1, count_));
  return measures_;
}

void PrimalDualMethod::measure_hinges(double& loss, double& dual) {
  for (Index t = 0; t < hinges_; ++t) {
    const HingeItem& item = hinge(t);
    const double value = item.margin + hinge_argument(divergence_, t);
    over_.r(t) = zeta_(t) - value - over_.s(t);
    nonneg_.r(t) = zeta_(t) - nonneg_.s(t);
    dual_residual_zeta_(t) = item.weight - over_.y(t) - nonneg_.y(t);
    add_hinge_to_field(t, over_.y(t));
    loss += item.weight * std::max(0.0, value);
    dual += over_.y(t) * item.margin;
  }
}

void PrimalDualMethod::measure_norm(double& dual, double& largest_norm, double& damage) {
  const auto a = slopes_of(x_);
  auto residual = slopes_of(dual_residual_x_);
  residual += upper_.y - lower_.y;
  upper_.r = t_ - a - upper_.s;
  lower_.r = t_ + a - lower_.s;
  double& lipschitz_residual = dual_residual_x_(x_.size() - 1);
  lipschitz_residual = p_.lambda - norm_.y.sum();
  for (Index k = 0; k < p_.pieces; ++k) {
    double norm = 0, used = 0, worst = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      norm += p_.norm_weight(j) * std::abs(a(i));
      used += p_.norm_weight(j) * t_(i);
      dual_residual_t_(i) = -upper_.y(i) - lower_.y(i) + p_.norm_weight(j) * norm_.y(k);
      worst = std::max(worst, (std::abs(residual(i)) + std::abs(dual_residual_t_(i))) / p_.norm_weight(j));
    }
    largest_norm = std::max(largest_norm, norm);
    damage += worst;
    norm_.r(k) = lipschitz() - used - norm_.s(k);
  }
  if (bound_.count > 0) {
    bound_.r(0) = bound_value_ - lipschitz() - bound_.s(0);
    lipschitz_residual += bound_.y(0);
    dual -= bound_value_ * bound_.y(0);
  }
  damage += std::abs(lipschitz_residual);
}

PrimalPoint PrimalDualMethod::primal_point() const {
  PrimalPoint point;
  point.z = x_.head(p_.z_count);
  point.slopes = Eigen::Map<const Matrix>(x_.data() + p_.z_count, p_.pieces, p_.features);
  return point;
}

DualPoint PrimalDualMethod::dual_point() const {
  DualPoint point;
  point.entries.setZero(p_.entries());
  for (Index i = 0; i < entries_.size(); ++i) point.entries(entries_.entry(i)) = convexity_.y(i);
  point.equality = nu_;
  point.price = norm_.y;
  point.single = over_.y.head(static_cast<Index>(p_.single.size()));
  point.coupled = over_.y.tail(static_cast<Index>(p_.coupled.size()));
  if (p_.has_quadratic) {
    point.quadratic_slope.setZero(p_.entries());
    for (Index i = 0; i < entries_.size(); ++i) {
      const Index e = entries_.entry(i);
      point.quadratic_slope(e) = 2 * p_.quadratic(e) * (divergence_(i) - p_.target(e));
    }
  }
  return point;
}

}  // namespace bregmax::internal
