#include "optimize/dual_correction.hpp"

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "optimize/at.hpp"

namespace bregmax::internal {
namespace {

constexpr int kMostRounds = 12;
constexpr double kLeastMultiplier = 1e-5;  // beside an item's weight of 1: room that every multiplier has
constexpr double kNearKink = 1e-3;         // beside the mean divergence, or the mean slope: as good as active
constexpr double kSolved = 1e-4;           // a round leaves more than that
constexpr double kProximal = 1e-12;
constexpr int kMostFactorizations = 10;

}  // namespace

DualCorrection::DualCorrection(AdmmSpace& space)
    : space_(space), z_(space.offsets()), pieces_(space.canonical().pieces), features_(space.canonical().features) {
  for (Vector* v : {&residual_, &x_, &preconditioned_, &direction_, &image_}) v->setZero(space.unknowns());
  slope_weight_.setZero(pieces_, features_);
}

std::optional<int> DualCorrection::correct(const DualCorrectionPoint& point, Matrix slope_multipliers, double enough,
                                           int most_steps, const std::function<bool()>& stop,
                                           EntryMultipliers& multipliers) {
  int steps = 0;
  for (int round = 0; round < kMostRounds && steps < most_steps; ++round) {
    set_residual(multipliers, slope_multipliers);
    if (residual_norm() <= enough) break;
    set_weights(point, multipliers, slope_multipliers);
    factor();
    steps += solve(most_steps - steps, stop);
    if (stop()) return std::nullopt;
    move(multipliers, slope_multipliers);
  }
  return steps;
}

// The derivatives of the Lagrangian by the unknowns.
void DualCorrection::set_residual(const EntryMultipliers& multipliers, const Matrix& slope_multipliers) {
  const EntryCosts& costs = space_.costs();
  of_entry_.setZero(space_.size());
  for (Index p = 0; p < space_.size(); ++p) {
    if (costs.kind_of(p) == EntryKind::kZero) continue;
    of_entry_(p) = costs.linear_of(p) - multipliers.hinge(p) - multipliers.convexity(p);
    if (costs.quadratic.size() > 0) of_entry_(p) += multipliers.quadratic_slope(p);
  }
  for (std::size_t t = 0; t < space_.coupled().size(); ++t) {
    const HingeItem& item = space_.coupled()[t];
    of_entry_(item.plus) += multipliers.coupled(static_cast<Index>(t));
    of_entry_(item.minus) -= multipliers.coupled(static_cast<Index>(t));
  }
  residual_.setZero();
  space_.adjoint(of_entry_.data(), residual_.data());
  slopes_of(residual_) += slope_multipliers;
}

// In the dual of the norm of the slopes. An imbalance of offsets can be moved to where it is missing, which changes the
// derivatives by the slopes by about as much.
double DualCorrection::residual_norm() const {
  const Vector& weight = space_.canonical().norm_weight;
  const double of_slopes =
      (slopes_of(residual_) * weight.cwiseInverse().asDiagonal()).cwiseAbs().rowwise().maxCoeff().sum();
  return of_slopes + residual_.head(z_).lpNorm<1>();
}

void DualCorrection::set_weights(const DualCorrectionPoint& point, const EntryMultipliers& multipliers,
                                 const Matrix& slope_multipliers) {
  const EntryCosts& costs = space_.costs();
  const double near = kNearKink * point.divergence.cwiseAbs().mean() + 1e-300;
  const auto weight = [&](double room, double from_kink) {
    return (std::max(0.0, room) + kLeastMultiplier) / (std::abs(from_kink) + near);
  };
  convexity_weight_.setZero(space_.size());
  hinge_weight_.setZero(space_.size());
  for (Index p = 0; p < space_.size(); ++p) {
    const EntryKind kind = costs.kind_of(p);
    if (kind == EntryKind::kEqual) convexity_weight_(p) = 1 / near;
    if (kind != EntryKind::kFree) continue;
    const double divergence = std::max(0.0, point.divergence(p)), most = costs.hinge_of(p),
                 hinge = multipliers.hinge(p);
    convexity_weight_(p) = weight(multipliers.convexity(p), divergence);
    if (most > 0) hinge_weight_(p) = weight(std::min(hinge, most - hinge), divergence - costs.margin);
  }
  coupled_weight_.setZero(multipliers.coupled.size());
  for (Index t = 0; t < coupled_weight_.size(); ++t) {
    const HingeItem& item = space_.coupled()[at(t)];
    const double room = std::min(multipliers.coupled(t), item.weight - multipliers.coupled(t));
    const double from_kink = item.margin + point.divergence(item.plus) - point.divergence(item.minus);
    coupled_weight_(t) = weight(room, from_kink);
  }
  // A slope of zero leaves its multiplier a choice up to the largest one of the piece, each over the norm's weight.
  const Vector& norm_weight = space_.canonical().norm_weight;
  const double near_slope = kNearKink * point.slopes.cwiseAbs().mean() + 1e-300;
  for (Index k = 0; k < pieces_; ++k) {
    const double most = (slope_multipliers.row(k).transpose().cwiseQuotient(norm_weight)).lpNorm<Eigen::Infinity>();
    for (Index j = 0; j < features_; ++j) {
      const double room = std::max(0.0, most * norm_weight(j) - std::abs(slope_multipliers(k, j)));
      slope_weight_(k, j) = room / (std::abs(point.slopes(k, j)) + near_slope);
    }
  }
}

// Of the matrix, but for two things that it cannot hold: a hinge on a difference of entries counts as one on each, and
// the slopes of a piece have one weight.
void DualCorrection::factor() {
  const EntryCosts& costs = space_.costs();
  of_entry_ = convexity_weight_ + hinge_weight_;
  if (costs.quadratic.size() > 0) of_entry_ += 2 * costs.quadratic;
  proximal_ = kProximal * of_entry_.mean();
  for (Index t = 0; t < coupled_weight_.size(); ++t) {
    const HingeItem& item = space_.coupled()[at(t)];
    of_entry_(item.plus) += coupled_weight_(t);
    of_entry_(item.minus) += coupled_weight_(t);
  }
  const Vector slope_weight = slope_weight_.rowwise().mean();
  for (int attempt = 0; !space_.factor(of_entry_, slope_weight, proximal_); ++attempt) {
    if (attempt == kMostFactorizations) throw Error("solver admm: the weights of a proof cannot be factored");
    proximal_ *= 100;
  }
}

void DualCorrection::apply_matrix(const Vector& x, Vector& image) {
  const EntryCosts& costs = space_.costs();
  space_.apply(x.data(), of_entry_.data());
  coupled_image_.resize(coupled_weight_.size());
  for (Index t = 0; t < coupled_weight_.size(); ++t) {
    const HingeItem& item = space_.coupled()[at(t)];
    coupled_image_(t) = coupled_weight_(t) * (of_entry_(item.plus) - of_entry_(item.minus));
  }
  for (Index p = 0; p < space_.size(); ++p) {
    double weight = convexity_weight_(p) + hinge_weight_(p);
    if (costs.quadratic.size() > 0) weight += 2 * costs.quadratic(p);
    of_entry_(p) *= weight;
  }
  for (Index t = 0; t < coupled_weight_.size(); ++t) {
    const HingeItem& item = space_.coupled()[at(t)];
    of_entry_(item.plus) += coupled_image_(t);
    of_entry_(item.minus) -= coupled_image_(t);
  }
  image.setZero();
  space_.adjoint(of_entry_.data(), image.data());
  slopes_of(image) += slope_weight_.cwiseProduct(slopes_of(x));
  image += proximal_ * x;
}

// Preconditioned conjugate gradients: x_ = matrix^-1 residual_. Returns the number of steps.
int DualCorrection::solve(int most_steps, const std::function<bool()>& stop) {
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

void DualCorrection::move(EntryMultipliers& multipliers, Matrix& slope_multipliers) {
  const EntryCosts& costs = space_.costs();
  space_.apply(x_.data(), of_entry_.data());
  for (Index p = 0; p < space_.size(); ++p) {
    const EntryKind kind = costs.kind_of(p);
    if (kind == EntryKind::kZero) continue;
    multipliers.convexity(p) += convexity_weight_(p) * of_entry_(p);
    if (kind == EntryKind::kFree) {
      multipliers.convexity(p) = std::max(0.0, multipliers.convexity(p));
      multipliers.hinge(p) = std::clamp(multipliers.hinge(p) + hinge_weight_(p) * of_entry_(p), 0.0, costs.hinge_of(p));
    }
    if (costs.quadratic.size() > 0) multipliers.quadratic_slope(p) -= 2 * costs.quadratic(p) * of_entry_(p);
  }
  for (Index t = 0; t < coupled_weight_.size(); ++t) {
    const HingeItem& item = space_.coupled()[at(t)];
    const double change = coupled_weight_(t) * (of_entry_(item.plus) - of_entry_(item.minus));
    multipliers.coupled(t) = std::clamp(multipliers.coupled(t) - change, 0.0, item.weight);
  }
  const Vector& norm_weight = space_.canonical().norm_weight;
  for (Index k = 0; k < pieces_; ++k) {
    const double most = (slope_multipliers.row(k).transpose().cwiseQuotient(norm_weight)).lpNorm<Eigen::Infinity>();
    for (Index j = 0; j < features_; ++j) {
      const double limit = most * norm_weight(j), moved = slope_weight_(k, j) * slopes_of(x_)(k, j);
      slope_multipliers(k, j) = std::clamp(slope_multipliers(k, j) - moved, -limit, limit);
    }
  }
}

}  // namespace bregmax::internal
