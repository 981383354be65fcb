#include "optimize/primal_dual_method.hpp"

#include <algorithm>
#include <cmath>

#include "optimize/at.hpp"

namespace bregmax::internal {
namespace {

constexpr int kMostCorrectors = 6;
constexpr double kLongStep = 0.95;                       // that needs no corrector
constexpr double kWorthwhileGrowth = 0.02;               // of the two steps together
constexpr double kLowProduct = 0.1, kHighProduct = 100;  // of the target
// Correctors make up for a target that is too low: the largest part of mu that it is.
constexpr double kMostSigma = 0.3;
constexpr double kWorth = 0.1;        // part of the gap
constexpr double kSmallPrice = 1e-6;  // lambda, of the zero model's objective
constexpr double kFreeBound = 5;      // times the largest divergence that is asked for
constexpr double kWiderBound = 5;
constexpr double kCenteringDelta = 1e-4;  // of the usual dual proximal term
constexpr double kNearEnd = 1e-4;         // gap, relative
constexpr double kDeltaScaleAtEnd = 1e-2;
constexpr double kMostHingeDeltaScale = 1e3;
constexpr double kLow = 0.1;  // divergence, of a margin of 1, below which a convexity constraint is taken in

}  // namespace

PrimalDualMethod::PrimalDualMethod(const CanonicalProblem& problem)
    : p_(problem),
      entries_(problem),
      grid_(problem, entries_),
      normal_(problem, entries_, grid_),
      hinges_(static_cast<Index>(problem.single.size() + problem.coupled.size())),
      bound_value_(problem.bound),
      cones_{&convexity_, &upper_, &lower_, &norm_, &bound_, &over_, &nonneg_} {
  for (Vector* v : {&x_, &dx_, &dx_accepted_, &rhs_, &dual_residual_x_}) v->setZero(normal_.size());
  const Index norm_size = slopes();
  for (Vector* v : {&t_, &dt_, &dt_accepted_, &dual_residual_t_}) v->setZero(norm_size);
  for (Vector* v : {&zeta_, &dzeta_, &dzeta_accepted_, &dual_residual_zeta_}) v->setZero(hinges_);
  for (Vector* v : {&over_weight_, &nonneg_weight_, &inverse_sum_}) v->setZero(hinges_);
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

double PrimalDualMethod::start_slope_limit() const { return 3 / static_cast<double>(std::max<Index>(1, p_.features)); }

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
    if (normal_.uses_update()) normal_.use_dense();
  }
  return true;
}

void PrimalDualMethod::adapt_proximal_terms(double unit) {
  // The last step was all but whole, and the residual that it left is the proximal term's.
  if (last_step_ > 0.9 && measures_.dual_residual > 0.3 * previous_dual_residual_ &&
      measures_.dual_residual < 2 * proximal_residual_) {
    relax_proximal();
  }
  const double gap = std::abs(measures_.primal - measures_.dual);
  // The same of the convexity constraints, where what they lack is worth a part of the gap. Where rows are close, their
  // multipliers are large, and it would take them thousands of such steps to grow.
  const double residual = convexity_.r.size() > 0 ? convexity_.r.lpNorm<Eigen::Infinity>() : 0;
  if (primal_step_ > 0.9 && residual > 0.3 * previous_convexity_residual_ && residual < 2 * convexity_residual_ &&
      std::abs(convexity_.r.dot(convexity_.y)) > kWorth * gap) {
    delta_scale_ = std::max(least_delta_scale_, 0.1 * delta_scale_);
  }
  // Near the end what constraints lack has to be far below the slacks of those that hold with equality, or the model is
  // left with rows at which another piece than their own is the largest. The update's factorization would not bear the
  // weights of that.
  if (gap < kNearEnd * unit && measures_.dual_damage <= gap && !normal_.uses_update()) {
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
    if (poor_solves_ == 0 || left.strengthenings == 0) return false;
    --left.strengthenings;
    strengthen_proximal();
    return true;
  }
  // Couplings in the arrow's update can be too strong for it. A larger proximal term of the hinges weakens them, and
  // costs accuracy that is seldom needed; the dense factorization takes anything.
  if (!harmful_solve_) return false;
  if (left.weakenings == 0 || hinge_delta_scale_ >= kMostHingeDeltaScale) return normal_.use_dense();
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

// Gondzio: aim at a longer step, and pull the products that would leave [target / 10, 100 target] back to it.
void PrimalDualMethod::correct_centrality(double target) {
  for (int round = 0; round < kMostCorrectors && std::min(primal_step_, dual_step_) < kLongStep; ++round) {
    const CentralAim aim = {std::min(1.0, 1.08 * primal_step_ + 0.3), std::min(1.0, 1.08 * dual_step_ + 0.3),
                            kLowProduct * target, kHighProduct * target};
    for (Cone* cone : cones_) cone->aim_central(aim);
    const double before = primal_step_ + dual_step_;
    const PartRates rates = solve_correction();
    if (harmful_solve_ || !dx_.allFinite()) return;
    add_correction(rates);
    if (primal_step_ + dual_step_ < before + kWorthwhileGrowth) return;
  }
}

// Colombo and Gondzio: as much of a correction as makes the steps longest. Slacks and multipliers meet only in the
// products, so they may take different parts of it.
void PrimalDualMethod::add_correction(const PartRates& rates) {
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
  if (primal == 0 && dual == 0) return;
  const double primal_part = part_of(primal), dual_part = part_of(dual);
  for (Cone* cone : cones_) cone->add_correction(primal_part, dual_part);
  dx_accepted_ += primal_part * dx_;
  dt_accepted_ += primal_part * dt_;
  dzeta_accepted_ += primal_part * dzeta_;
  dnu_accepted_ += dual_part * dnu_;
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
