#include "oracle/method.hpp"

#include <algorithm>
#include <cmath>

namespace bregmax::oracle {
namespace {

using internal::kNoEntry;

constexpr double kEqualityDelta = 1e-14;
// Added to the diagonal, relative to it, as far as needed to factor the matrix.
constexpr double kRidges[] = {0, 1e-31, 1e-29, 1e-27, 1e-25};
constexpr double kToBoundary = 0.99;
constexpr double kStartReach = 0.01;    // of the largest norm that can be optimal, at the start
constexpr double kMostCorrection = 20;  // targets; beyond, a second-order term says little

Number larger(const Number& a, const Number& b) { return a < b ? b : a; }
Number smaller(const Number& a, const Number& b) { return b < a ? b : a; }

}  // namespace

Method::Constraints::Constraints(Index size) {
  for (Numbers* numbers : {&s, &y, &r, &c, &ds, &dy}) *numbers = Numbers::Zero(size);
}

void Method::Constraints::finish(Index i, const Number& change) {
  ds(i) = change + r(i);
  dy(i) = (c(i) - y(i) * ds(i)) / s(i);
}

// Aims at products of `target`; corrected: by the second-order term of the prediction.
void Method::Constraints::aim(const Number& target, bool corrected) {
  const Number most = target * kMostCorrection;
  for (Index i = 0; i < s.size(); ++i) {
    const Number second = corrected ? ds(i) * dy(i) : Number(0);
    c(i) = target - s(i) * y(i) - smaller(larger(second, -most), most);
  }
}

void Method::Constraints::longest_steps(Number& primal, Number& dual) const {
  for (Index i = 0; i < s.size(); ++i) {
    if (ds(i) < 0) primal = smaller(primal, -s(i) / ds(i));
    if (dy(i) < 0) dual = smaller(dual, -y(i) / dy(i));
  }
}

void Method::Constraints::move(const Number& primal, const Number& dual) {
  s += primal * ds;
  y += dual * dy;
}

SparseRow Method::make_row(Index entry) const {
  const Index k = entry / p_.locations, l = entry % p_.locations, o = p_.owner[l];
  SparseRow row;
  const auto add_piece = [&](Index piece, double sign) {
    row.add(p_.z_of_piece[piece], sign);
    for (Index j = 0; j < p_.features; ++j) {
      const Number distance = location_(l, j) - anchor_(piece, j);
      if (distance == 0) continue;  // all of them, where the owner is anchored
      row.add(slope(piece, j), distance * sign);
    }
  };
  add_piece(o, 1);
  add_piece(k, -1);
  return row;
}

void Method::place_rows(const LearningProblem& caller) {
  location_.resize(p_.locations, p_.features);
  for (Index l = 0; l < p_.locations; ++l) {
    for (Index j = 0; j < p_.features; ++j) {
      const double x = caller.points(p_.representative_row[l], p_.kept_features[j]);
      location_(l, j) = (Number(x) - Number(p_.feature_center(j))) / Number(p_.feature_unit(j));
    }
  }
  anchor_.resize(p_.pieces, p_.features);
  for (Index k = 0; k < p_.pieces; ++k) {
    Index l = 0;
    while (p_.location.row(l) != p_.anchor.row(k)) ++l;  // anchors are locations
    anchor_.row(k) = location_.row(l);
  }
}

const HingeItem& Method::hinge(Index t) const {
  const auto singles = static_cast<Index>(p_.single.size());
  return t < singles ? p_.single[t] : p_.coupled[t - singles];
}

Method::Method(const LearningProblem& caller, const CanonicalProblem& problem, double slope_price)
    : p_(problem),
      norm_weight_(problem.norm_weight.cast<Number>()),
      lambda_(problem.lambda),
      slope_price_(slope_price),
      linear_(Numbers::Zero(problem.z_count + problem.pieces * problem.features + 1)),
      convexity_(problem.entries() - static_cast<Index>(problem.zero_entries.size() + problem.equality_entries.size())),
      upper_(problem.pieces * problem.features),
      lower_(problem.pieces * problem.features),
      norm_(problem.pieces),
      bound_(std::isfinite(problem.bound) ? 1 : 0),
      over_(static_cast<Index>(problem.single.size() + problem.coupled.size())),
      nonneg_(over_.s.size()),
      all_{&convexity_, &upper_, &lower_, &norm_, &bound_, &over_, &nonneg_} {
  place_rows(caller);
  std::vector<bool> free(p_.entries(), true);
  for (const auto* list : {&p_.zero_entries, &p_.equality_entries}) {
    for (const Index e : *list) free[e] = false;
  }
  for (Index e = 0; e < p_.entries(); ++e) {
    if (!free[e]) continue;
    free_entries_.push_back(e);
    free_rows_.push_back(make_row(e));
    if (p_.has_linear && p_.linear(e) != 0) free_rows_.back().add_to(linear_, p_.linear(e));
    if (p_.has_quadratic && p_.quadratic(e) > 0) {
      quadratic_entries_.push_back(e);
      quadratic_rows_.push_back(free_rows_.back());
    }
  }
  for (const Index e : p_.equality_entries) equality_rows_.push_back(make_row(e));
  for (Index t = 0; t < over_.s.size(); ++t) {
    hinge_rows_.push_back(hinge(t).plus == kNoEntry ? SparseRow{} : make_row(hinge(t).plus));
    hinge_rows_.back().subtract(make_row(hinge(t).minus));
  }
  start();
}

// Starts from the generator sum_j kappa_j x_j^2 / 2. A feature of large deviation needs little of the norm for
// divergences of the order of one. A feature of small deviation gets as much as may be optimal, because slopes that
// have to grow by many powers of ten take many iterations.
void Method::start() {
  x_ = Numbers::Zero(linear_.size());
  t_ = Numbers::Zero(p_.pieces * p_.features);
  zeta_ = Numbers::Zero(over_.s.size());
  nu_ = Numbers::Zero(static_cast<Index>(equality_rows_.size()));
  const double share = 3 / static_cast<double>(std::max<Index>(1, p_.features));
  const double affordable = p_.zero_objective / p_.objective_unit / std::max(p_.lambda, 1e-300);
  const double reach = std::max(1.0, kStartReach * std::min(affordable, p_.bound));
  Number largest = 0;
  for (Index k = 0; k < p_.pieces; ++k) {
    Number value = 0, norm = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Number anchor = p_.anchor(k, j), kappa = share * std::min(1.0, reach / p_.norm_weight(j)),
                   a = kappa * anchor;
      value += Number(0.5) * a * anchor;
      x_(slope(k, j)) = a;
      t_(k * p_.features + j) = abs(a) + kappa;
      norm += norm_weight_(j) * t_(k * p_.features + j);
    }
    x_(p_.z_of_piece[k]) = value;
    largest = larger(largest, norm);
  }
  x_(lipschitz()) = Number(2) * largest;
  if (bound_.s.size() > 0 && x_(lipschitz()) > Number(0.9 * p_.bound)) {
    const Number shrink = Number(0.9 * p_.bound) / x_(lipschitz());
    x_ *= shrink;
    t_ *= shrink;
  }
  start_multipliers();
}

void Method::start_multipliers() {
  double mu = 0.1;
  if (p_.has_quadratic) mu = std::max(mu, 0.1 * (p_.quadratic.array() * p_.target.array().abs()).maxCoeff());
  // At the optimum the multipliers of the norms sum to lambda, so they start at that order of magnitude.
  mu = std::max(mu, static_cast<double>(lambda_ * x_(lipschitz())) / static_cast<double>(p_.pieces));
  for (Index i = 0; i < convexity_.s.size(); ++i) {
    convexity_.s(i) = larger(free_rows_[i].times(x_), 1e-2);
    convexity_.y(i) = Number(mu) / convexity_.s(i);
    if (p_.has_linear) convexity_.y(i) += p_.linear(free_entries_[i]);
  }
  for (Index t = 0; t < zeta_.size(); ++t) {
    const Number value = Number(hinge(t).margin) + hinge_rows_[t].times(x_);
    zeta_(t) = larger(value, 0) + Number(0.5 * hinge(t).margin);
    over_.s(t) = zeta_(t) - value;
    nonneg_.s(t) = zeta_(t);
    const Number share = nonneg_.s(t) / (over_.s(t) + nonneg_.s(t));
    over_.y(t) = share * hinge(t).weight;
    nonneg_.y(t) = (Number(1) - share) * hinge(t).weight;
  }
  set_residuals();
  // Slacks of the norms are what they should be.
  for (Constraints* one : {&upper_, &lower_, &norm_, &bound_}) {
    one->s += one->r;
    for (Index i = 0; i < one->s.size(); ++i) one->y(i) = Number(mu) / one->s(i);
  }
  set_residuals();
}

void Method::set_residuals() {
  dual_residual_x_ = linear_;
  for (Index i = 0; i < convexity_.s.size(); ++i) {
    const Number divergence = free_rows_[i].times(x_);
    convexity_.r(i) = divergence - convexity_.s(i);
    free_rows_[i].add_to(dual_residual_x_, -convexity_.y(i));
  }
  for (std::size_t q = 0; q < quadratic_rows_.size(); ++q) {
    const Index e = quadratic_entries_[q];
    const Number miss = quadratic_rows_[q].times(x_) - p_.target(e);
    quadratic_rows_[q].add_to(dual_residual_x_, miss * (2 * p_.quadratic(e)));
  }
  equality_residual_.resize(nu_.size());
  for (Index q = 0; q < nu_.size(); ++q) {
    equality_residual_(q) = equality_rows_[q].times(x_);
    equality_rows_[q].add_to(dual_residual_x_, -nu_(q));
  }
  dual_residual_zeta_.resize(zeta_.size());
  for (Index t = 0; t < zeta_.size(); ++t) {
    const Number value = Number(hinge(t).margin) + hinge_rows_[t].times(x_);
    over_.r(t) = zeta_(t) - value - over_.s(t);
    nonneg_.r(t) = zeta_(t) - nonneg_.s(t);
    hinge_rows_[t].add_to(dual_residual_x_, over_.y(t));
    dual_residual_zeta_(t) = Number(hinge(t).weight) - over_.y(t) - nonneg_.y(t);
  }
  dual_residual_t_.resize(t_.size());
  Number prices = 0;
  for (Index k = 0; k < p_.pieces; ++k) {
    Number used = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      upper_.r(i) = t_(i) - x_(slope(k, j)) - upper_.s(i);
      lower_.r(i) = t_(i) + x_(slope(k, j)) - lower_.s(i);
      dual_residual_x_(slope(k, j)) += upper_.y(i) - lower_.y(i);
      dual_residual_t_(i) = slope_price_ + norm_weight_(j) * norm_.y(k) - upper_.y(i) - lower_.y(i);
      used += norm_weight_(j) * t_(i);
    }
    norm_.r(k) = x_(lipschitz()) - used - norm_.s(k);
    prices += norm_.y(k);
  }
  dual_residual_x_(lipschitz()) = lambda_ - prices;
  if (bound_.s.size() > 0) {
    bound_.r(0) = Number(p_.bound) - x_(lipschitz()) - bound_.s(0);
    dual_residual_x_(lipschitz()) += bound_.y(0);
  }
}

// The normal equations of x; t and zeta are eliminated as PrimalDualMethod does.
bool Method::factor() {
  normal_ = NumberMatrix::Zero(x_.size(), x_.size());
  for (Index i = 0; i < convexity_.s.size(); ++i) free_rows_[i].add_square_to(normal_, convexity_.weight(i));
  for (std::size_t q = 0; q < quadratic_rows_.size(); ++q) {
    quadratic_rows_[q].add_square_to(normal_, 2 * p_.quadratic(quadratic_entries_[q]));
  }
  for (const SparseRow& row : equality_rows_) row.add_square_to(normal_, 1 / kEqualityDelta);
  for (Index t = 0; t < zeta_.size(); ++t) {
    const Number over = over_.weight(t), nonneg = nonneg_.weight(t);
    hinge_rows_[t].add_square_to(normal_, over * nonneg / (over + nonneg));
  }
  for (Index k = 0; k < p_.pieces; ++k) {
    SparseRow row;  // (f, 1) of (a_k, L)
    Number sum = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const Number upper = upper_.weight(i), lower = lower_.weight(i), q = norm_weight_(j);
      sum += q * q / (upper + lower);
      normal_(slope(k, j), slope(k, j)) += Number(4) * upper * lower / (upper + lower);
      row.add(slope(k, j), q * (lower - upper) / (upper + lower));
    }
    row.add(lipschitz(), 1);
    row.add_square_to(normal_, norm_.weight(k) / (Number(1) + norm_.weight(k) * sum));
  }
  if (bound_.s.size() > 0) normal_(lipschitz(), lipschitz()) += bound_.weight(0);
  // Adding a constant to all z changes nothing.
  const Number ground = larger(normal_.diagonal().head(p_.z_count).maxCoeff(), 1);
  normal_.topLeftCorner(p_.z_count, p_.z_count).array() += ground;
  for (const double ridge : kRidges) {
    NumberMatrix ridged = normal_;
    ridged.diagonal() *= Number(1) + Number(ridge);
    factor_.compute(ridged);
    if (factor_.info() == Eigen::Success) return true;
  }
  return false;
}

// Eliminates t from the right-hand side. dt_ keeps the right-hand side of t.
void Method::reduce_norms(Numbers& rhs) const {
  for (Index k = 0; k < p_.pieces; ++k) {
    const Number weight = norm_.weight(k);
    Number sum = 0, along = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const Number both = upper_.weight(i) + lower_.weight(i), q = norm_weight_(j);
      sum += q * q / both;
      along += q * dt_(i) / both;
    }
    const Number reduced = weight / (Number(1) + weight * sum);
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const Number upper = upper_.weight(i), lower = lower_.weight(i), q = norm_weight_(j);
      const Number solved = (dt_(i) - reduced * along * q) / (upper + lower);
      rhs(slope(k, j)) -= (lower - upper) * solved;
      rhs(lipschitz()) += weight * q * solved;
    }
  }
}

// Computes dt from dx and from the right-hand side of t, which is in dt_.
void Method::recover_norms() {
  for (Index k = 0; k < p_.pieces; ++k) {
    const Number weight = norm_.weight(k);
    Number sum = 0, along = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      const Number upper = upper_.weight(i), lower = lower_.weight(i), q = norm_weight_(j);
      dt_(i) += weight * q * dx_(lipschitz()) - (lower - upper) * dx_(slope(k, j));
      sum += q * q / (upper + lower);
      along += q * dt_(i) / (upper + lower);
    }
    const Number reduced = weight / (Number(1) + weight * sum);
    Number used = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      dt_(i) = (dt_(i) - reduced * along * norm_weight_(j)) / (upper_.weight(i) + lower_.weight(i));
      upper_.finish(i, dt_(i) - dx_(slope(k, j)));
      lower_.finish(i, dt_(i) + dx_(slope(k, j)));
      used += norm_weight_(j) * dt_(i);
    }
    norm_.finish(k, dx_(lipschitz()) - used);
  }
  if (bound_.s.size() > 0) bound_.finish(0, -dx_(lipschitz()));
}

// The direction for what the constraints aim at.
void Method::solve() {
  Numbers rhs = -dual_residual_x_;
  for (Index i = 0; i < convexity_.s.size(); ++i) free_rows_[i].add_to(rhs, convexity_.pull(i));
  for (Index q = 0; q < nu_.size(); ++q) {
    equality_rows_[q].add_to(rhs, -equality_residual_(q) / kEqualityDelta);
  }
  dzeta_.resize(zeta_.size());
  for (Index t = 0; t < zeta_.size(); ++t) {
    dzeta_(t) = over_.pull(t) + nonneg_.pull(t) - dual_residual_zeta_(t);
    const Number share = over_.weight(t) / (over_.weight(t) + nonneg_.weight(t));
    hinge_rows_[t].add_to(rhs, share * dzeta_(t) - over_.pull(t));
  }
  dt_.resize(t_.size());
  for (Index k = 0; k < p_.pieces; ++k) {
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      dt_(i) = upper_.pull(i) + lower_.pull(i) - norm_weight_(j) * norm_.pull(k) - dual_residual_t_(i);
      rhs(slope(k, j)) += lower_.pull(i) - upper_.pull(i);
    }
    rhs(lipschitz()) += norm_.pull(k);
  }
  if (bound_.s.size() > 0) rhs(lipschitz()) -= bound_.pull(0);
  reduce_norms(rhs);
  dx_ = factor_.solve(rhs);
  dx_ += factor_.solve(rhs - normal_.selfadjointView<Eigen::Lower>() * dx_);
  recover_norms();
  for (Index i = 0; i < convexity_.s.size(); ++i) convexity_.finish(i, free_rows_[i].times(dx_));
  dnu_.resize(nu_.size());
  for (Index q = 0; q < nu_.size(); ++q) {
    dnu_(q) = -(equality_residual_(q) + equality_rows_[q].times(dx_)) / kEqualityDelta;
  }
  for (Index t = 0; t < zeta_.size(); ++t) {
    const Number change = hinge_rows_[t].times(dx_);
    dzeta_(t) = (dzeta_(t) + over_.weight(t) * change) / (over_.weight(t) + nonneg_.weight(t));
    over_.finish(t, dzeta_(t) - change);
    nonneg_.finish(t, dzeta_(t));
  }
}

Index Method::constraints() const {
  Index count = 0;
  for (const Constraints* one : all_) count += one->s.size();
  return std::max<Index>(1, count);
}

Number Method::complementarity(const Number& primal, const Number& dual) const {
  Number sum = 0;
  for (const Constraints* one : all_) {
    if (one->s.size() > 0) sum += (one->s + primal * one->ds).dot(one->y + dual * one->dy);
  }
  return sum / static_cast<double>(constraints());
}

bool Method::advance(double least_mean_product) {
  set_residuals();
  if (!factor()) return false;
  const auto steps = [&](Number& primal, Number& dual) {
    primal = dual = Number(1) / kToBoundary;
    for (const Constraints* one : all_) one->longest_steps(primal, dual);
    primal *= kToBoundary;
    dual *= kToBoundary;
    if (p_.has_quadratic) primal = dual = smaller(primal, dual);  // they meet in the derivatives
  };
  Number primal, dual;
  for (Constraints* one : all_) one->aim(0, false);
  solve();
  steps(primal, dual);
  const Number mu = complementarity(0, 0), ratio = complementarity(primal, dual) / mu;
  const Number target = larger(mu * larger(ratio * ratio * ratio, 1e-6), smaller(mu, least_mean_product));
  for (Constraints* one : all_) one->aim(target, true);
  solve();
  for (Index i = 0; i < dx_.size(); ++i) {
    if (!dx_(i).is_finite()) return false;
  }
  steps(primal, dual);
  x_ += primal * dx_;
  t_ += primal * dt_;
  zeta_ += primal * dzeta_;
  nu_ += dual * dnu_;
  for (Constraints* one : all_) one->move(primal, dual);
  return true;
}

Method::Measures Method::measure() {
  set_residuals();
  Number loss = linear_.dot(x_), dual = 0, largest = 0, damage = 0;
  for (std::size_t q = 0; q < quadratic_rows_.size(); ++q) {
    const Index e = quadratic_entries_[q];
    const Number divergence = quadratic_rows_[q].times(x_), target = p_.target(e);
    loss += (divergence - target) * (divergence - target) * p_.quadratic(e);
    dual += (target * target - divergence * divergence) * p_.quadratic(e);
  }
  for (Index t = 0; t < zeta_.size(); ++t) {
    const Number value = Number(hinge(t).margin) + hinge_rows_[t].times(x_);
    loss += larger(value, 0) * hinge(t).weight;
    dual += over_.y(t) * hinge(t).margin;
  }
  for (Index k = 0; k < p_.pieces; ++k) {
    Number norm = 0, worst = 0;
    for (Index j = 0; j < p_.features; ++j) {
      const Index i = k * p_.features + j;
      norm += norm_weight_(j) * abs(x_(slope(k, j)));
      loss += slope_price_ * abs(x_(slope(k, j)));
      worst = larger(worst, (abs(dual_residual_x_(slope(k, j))) + abs(dual_residual_t_(i))) / norm_weight_(j));
    }
    largest = larger(largest, norm);
    damage += worst;
  }
  if (bound_.s.size() > 0) dual -= bound_.y(0) * p_.bound;
  damage = (damage + abs(dual_residual_x_(lipschitz()))) * largest;
  for (Index i = 0; i < p_.z_count; ++i) damage += abs(dual_residual_x_(i)) * larger(1, abs(x_(i)));
  Measures measures;
  measures.primal = static_cast<double>(loss + lambda_ * largest);
  measures.dual = static_cast<double>(dual);
  measures.lipschitz = static_cast<double>(largest);
  for (Index i = 0; i < convexity_.s.size(); ++i) damage += larger(-free_rows_[i].times(x_), 0) * convexity_.y(i);
  for (Index q = 0; q < nu_.size(); ++q) damage += abs(equality_residual_(q) * nu_(q));
  measures.infeasibility = static_cast<double>(damage);
  return measures;
}

PrimalPoint Method::primal_point() const {
  PrimalPoint point{Vector(p_.z_count), Matrix(p_.pieces, p_.features)};
  for (Index i = 0; i < p_.z_count; ++i) point.z(i) = static_cast<double>(x_(i));
  for (Index k = 0; k < p_.pieces; ++k) {
    for (Index j = 0; j < p_.features; ++j) point.slopes(k, j) = static_cast<double>(x_(slope(k, j)));
  }
  return point;
}

DualPoint Method::dual_point() const {
  const auto rounded = [](const Numbers& numbers) {
    Vector vector(numbers.size());
    for (Index i = 0; i < vector.size(); ++i) vector(i) = static_cast<double>(numbers(i));
    return vector;
  };
  DualPoint point;
  point.entries.setZero(p_.entries());
  for (Index i = 0; i < convexity_.s.size(); ++i) {
    point.entries(free_entries_[i]) = static_cast<double>(convexity_.y(i));
  }
  point.equality = rounded(nu_);
  point.price = rounded(norm_.y);
  const Vector hinges = rounded(over_.y);
  point.single = hinges.head(static_cast<Index>(p_.single.size()));
  point.coupled = hinges.tail(static_cast<Index>(p_.coupled.size()));
  if (p_.has_quadratic) {
    point.divergence.setZero(p_.entries());
    for (std::size_t q = 0; q < quadratic_rows_.size(); ++q) {
      point.divergence(quadratic_entries_[q]) = static_cast<double>(quadratic_rows_[q].times(x_));
    }
  }
  return point;
}

}  // namespace bregmax::oracle
