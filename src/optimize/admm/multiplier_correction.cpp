#include "optimize/admm/multiplier_correction.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bregmax::internal {
namespace {

constexpr int kMostRounds = 12;
constexpr double kLeastMultiplier = 1e-5;  // room that every multiplier has; the largest item weight is 1
constexpr double kNearKink = 1e-3;         // relative to the mean divergence or slope: counts as active
constexpr double kSolved = 1e-4;           // relative accuracy of the linear solve of a round
constexpr double kLeastProximal = 1e-12;
constexpr int kMostRoundSteps = 4000;  // bounds the work that is lost when a round is stopped
constexpr int kFactorizationSteps = 50;

}  // namespace

MultiplierCorrection::MultiplierCorrection(AdmmSpace& space) : space_(space) {
  for (Vector* v : {&residual_, &x_, &preconditioned_, &direction_, &image_}) v->setZero(space.unknowns());
  slope_weight_.setZero(pieces_, features_);
  slope_multipliers_.setZero(pieces_, features_);
  resize_to_set();
}

void MultiplierCorrection::resize_to_set() {
  numbers_ = {};
  multipliers_.convexity.setZero(space_.size());
  multipliers_.hinge.setZero(space_.size());
  multipliers_.coupled.setZero(std::ssize(space_.coupled()));
}

void MultiplierCorrection::begin(EntryMultipliers multipliers, Matrix slope_multipliers) {
  multipliers_ = std::move(multipliers);
  slope_multipliers_ = std::move(slope_multipliers);
  numbers_ = {.begun = 1};
}

// The saved state changes only when a round is finished.
bool MultiplierCorrection::go_on(const CorrectionPoint& point, double enough, int most_steps,
                                 const std::function<bool()>& stop) {
  while (numbers_.round < kMostRounds && numbers_.steps < most_steps) {
    set_residual();
    if (residual_norm() <= enough) break;
    set_weights(point);
    if (stop()) return false;
    if (!factor()) break;
    const int steps = solve(std::min(kMostRoundSteps, most_steps - numbers_.steps), stop);
    if (stop()) return false;
    move();
    ++numbers_.round;
    numbers_.steps += kFactorizationSteps + steps;
  }
  return true;
}

EntryMultipliers MultiplierCorrection::take() {
  EntryMultipliers taken = multipliers_;
  resize_to_set();
  return taken;
}

RawParts MultiplierCorrection::raw_state() {
  RawParts parts;
  append(parts, multipliers_.convexity, multipliers_.hinge, multipliers_.coupled, slope_multipliers_, numbers_.begun,
         numbers_.round, numbers_.steps);
  return parts;
}

// Adds the value of each coupled hinge to its entry `plus` and, times minus_sign, to its entry `minus`.
void MultiplierCorrection::add_to_hinges(const Vector& values, double minus_sign) {
  for (Index t = 0; t < values.size(); ++t) {
    of_entry_(space_.coupled()[t].plus) += values(t);
    of_entry_(space_.coupled()[t].minus) += minus_sign * values(t);
  }
}

// of_coupled_ = weight (plus - minus) of the values in of_entry_.
void MultiplierCorrection::set_weighted_differences() {
  of_coupled_.resize(coupled_weight_.size());
  for (Index t = 0; t < of_coupled_.size(); ++t) {
    const HingeItem& item = space_.coupled()[t];
    of_coupled_(t) = coupled_weight_(t) * (of_entry_(item.plus) - of_entry_(item.minus));
  }
}

// The derivatives of the Lagrangian by the unknowns.
void MultiplierCorrection::set_residual() {
  const EntryCosts& costs = space_.costs();
  of_entry_.setZero(space_.size());
  for (Index p = 0; p < space_.size(); ++p) {
    if (costs.kind_of(p) == EntryKind::kZero) continue;
    of_entry_(p) = costs.linear_of(p) - multipliers_.hinge(p) - multipliers_.convexity(p);
  }
  add_to_hinges(multipliers_.coupled, -1);
  residual_.setZero();
  space_.adjoint(of_entry_.data(), residual_.data());
  slopes_of(residual_) += slope_multipliers_;
}

// In the dual of the norm of the slopes. The certificate balances the offsets, which changes the derivatives by the
// slopes by about as much as is moved.
double MultiplierCorrection::residual_norm() const {
  const Vector& weight = space_.units().norm_weight;
  const double of_slopes =
      (slopes_of(residual_) * weight.cwiseInverse().asDiagonal()).cwiseAbs().rowwise().maxCoeff().sum();
  return of_slopes + residual_.head(z_).lpNorm<1>();
}

void MultiplierCorrection::set_weights(const CorrectionPoint& point) {
  const EntryCosts& costs = space_.costs();
  const double near = kNearKink * point.divergence.cwiseAbs().mean() + 1e-300;
  const auto weight = [&](double room, double from_kink) {
    return (std::max(0.0, room) + kLeastMultiplier) / (std::abs(from_kink) + near);
  };
  convexity_weight_.setZero(space_.size());
  hinge_weight_.setZero(space_.size());
  for (Index p = 0; p < space_.size(); ++p) {
    if (costs.kind_of(p) != EntryKind::kFree) continue;
    const double divergence = std::max(0.0, point.divergence(p)), most = costs.hinge_of(p),
                 hinge = multipliers_.hinge(p);
    convexity_weight_(p) = weight(multipliers_.convexity(p), divergence);
    if (most > 0) hinge_weight_(p) = weight(std::min(hinge, most - hinge), divergence - costs.margin);
  }
  coupled_weight_.setZero(multipliers_.coupled.size());
  for (Index t = 0; t < coupled_weight_.size(); ++t) {
    const HingeItem& item = space_.coupled()[t];
    const double room = std::min(multipliers_.coupled(t), item.weight - multipliers_.coupled(t));
    const double from_kink = item.margin + point.divergence(item.plus) - point.divergence(item.minus);
    coupled_weight_(t) = weight(room, from_kink);
  }
  // The multiplier of a slope of zero may be anything up to the largest one of the piece, relative to the norm's
  // weights.
  const Vector& norm_weight = space_.units().norm_weight;
  const double near_slope = kNearKink * point.slopes.cwiseAbs().mean() + 1e-300;
  for (Index k = 0; k < pieces_; ++k) {
    const double most = largest_slope_multiplier(k);
    for (Index j = 0; j < features_; ++j) {
      const double room = std::max(0.0, most * norm_weight(j) - std::abs(slope_multipliers_(k, j)));
      slope_weight_(k, j) = room / (std::abs(point.slopes(k, j)) + near_slope);
    }
  }
}

double MultiplierCorrection::largest_slope_multiplier(Index piece) const {
  const Vector& norm_weight = space_.units().norm_weight;
  return slope_multipliers_.row(piece).transpose().cwiseQuotient(norm_weight).lpNorm<Eigen::Infinity>();
}

// Factors an approximation of the matrix as preconditioner: a hinge on a difference of entries counts as one on each,
// and the slopes of a piece have one weight. False: it is not positive definite in floating point.
bool MultiplierCorrection::factor() {
  of_entry_ = convexity_weight_ + hinge_weight_;
  proximal_ = kLeastProximal * of_entry_.mean();
  add_to_hinges(coupled_weight_, 1);
  const Vector slope_weight = slope_weight_.rowwise().mean();
  for (int attempt = 0; attempt < AdmmSpace::kMostFactorizations; ++attempt) {
    if (space_.factor(of_entry_, slope_weight, proximal_)) return true;
    proximal_ = 100 * std::max(proximal_, 1e-300);
  }
  return false;
}

void MultiplierCorrection::apply_matrix(const Vector& x, Vector& image) {
  space_.apply(x.data(), of_entry_.data());
  set_weighted_differences();
  of_entry_.array() *= (convexity_weight_ + hinge_weight_).array();
  add_to_hinges(of_coupled_, -1);
  image.setZero();
  space_.adjoint(of_entry_.data(), image.data());
  slopes_of(image) += slope_weight_.cwiseProduct(slopes_of(x));
  image += proximal_ * x;
}

// Preconditioned conjugate gradients: x_ = matrix^-1 residual_. Returns the number of steps.
int MultiplierCorrection::solve(int most_steps, const std::function<bool()>& stop) {
  x_.setZero();
  space_.solve(residual_.data(), preconditioned_.data());
  direction_ = preconditioned_;
  double size = residual_.dot(preconditioned_);
  const double enough = kSolved * kSolved * size;
  int steps = 0;
  while (steps < most_steps && size > enough && !stop()) {
    apply_matrix(direction_, image_);
    const double length = size / direction_.dot(image_);
    if (!std::isfinite(length)) break;
    ++steps;
    x_ += length * direction_;
    residual_ -= length * image_;
    space_.solve(residual_.data(), preconditioned_.data());
    const double next = residual_.dot(preconditioned_);
    direction_ = preconditioned_ + next / size * direction_;
    size = next;
  }
  return steps;
}

void MultiplierCorrection::move() {
  const EntryCosts& costs = space_.costs();
  space_.apply(x_.data(), of_entry_.data());
  for (Index p = 0; p < space_.size(); ++p) {
    if (costs.kind_of(p) != EntryKind::kFree) continue;
    const double convexity = multipliers_.convexity(p) + convexity_weight_(p) * of_entry_(p);
    const double hinge = multipliers_.hinge(p) + hinge_weight_(p) * of_entry_(p);
    multipliers_.convexity(p) = std::max(0.0, convexity);
    multipliers_.hinge(p) = std::clamp(hinge, 0.0, costs.hinge_of(p));
  }
  set_weighted_differences();
  for (Index t = 0; t < of_coupled_.size(); ++t) {
    multipliers_.coupled(t) = std::clamp(multipliers_.coupled(t) - of_coupled_(t), 0.0, space_.coupled()[t].weight);
  }
  const Vector& norm_weight = space_.units().norm_weight;
  for (Index k = 0; k < pieces_; ++k) {
    const double most = largest_slope_multiplier(k);
    for (Index j = 0; j < features_; ++j) {
      const double limit = most * norm_weight(j), moved = slope_weight_(k, j) * slopes_of(x_)(k, j);
      slope_multipliers_(k, j) = std::clamp(slope_multipliers_(k, j) - moved, -limit, limit);
    }
  }
}

}  // namespace bregmax::internal
