#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/packed_symmetric.hpp"

namespace bregmax::internal {

// The pairs of ITML as its iterations need them.
struct ItmlConstraints {
  Matrix differences;   // x_i - x_j, one per row, none of them 0
  Vector signs;         // +1 similar, -1 dissimilar
  Vector bounds;        // > 0
  Vector slack_prices;  // gamma times the weight, > 0

  Index size() const { return differences.rows(); }
};

// s - log s - 1, the divergence of a slack from its bound, at s = slack / bound.
inline double slack_divergence(double ratio) { return ratio - 1 - std::log(ratio); }

// A barrier method on the objective of ITML: -weight log(distance) keeps each slack away from the divergence of its
// pair, and -weight log det A keeps A away from singular matrices. For given A the best slack is a root of a quadratic
// equation, so that A is the only variable left, and the function of A is self-concordant for any gamma and any units
// of the features. In A = L (I + X) L^T around A = L L^T the curvature of -log det is the identity, and each pair adds
// a matrix of rank one. The weight falls in stages.
class ItmlNewton {
 public:
  // Whether a step is affordable: the order of its matrix is the number of pairs or of entries of A, the smaller one.
  static bool suits(const ItmlConstraints& constraints) {
    const double features = static_cast<double>(constraints.differences.cols());
    const double entries = features * (features + 1) / 2, pairs = static_cast<double>(constraints.size());
    return std::min(entries, pairs) <= 2000 && entries * pairs <= 5e7;
  }

  // Both must outlive this. The metric is positive definite, and its objective is at most `gap` above the optimum.
  ItmlNewton(const ItmlConstraints& constraints, const Matrix& prior_inverse, const Matrix& metric, double gap)
      : constraints_(constraints),
        prior_inverse_(prior_inverse),
        prior_log_det_(PositiveDefinite(prior_inverse).log_determinant()) {
    // At the optimum of a stage the gap is at most the sum of the weights.
    weight_ = std::max(gap, 1e-300) / static_cast<double>(constraints.size() + metric.rows());
    measure(metric);
  }

  // False: rounding ended the progress.
  bool step() {
    const Matrix direction = newton_direction();
    const double descent = stage_slope().cwiseProduct(direction).sum(), before = stage_objective_;
    const double stage_gap = weight_ * static_cast<double>(constraints_.size() + metric_.rows());
    // Divided by the weight, the objective of the stage is self-concordant, so that this bounds how far its optimum is.
    constexpr double kCloseEnough = 0.3, kNextStage = 0.1;
    if (descent > -kCloseEnough * weight_ && stage_gap > std::numeric_limits<double>::epsilon() * (1 + objective_)) {
      weight_ *= kNextStage;
      const Matrix unchanged = metric_;
      return measure(unchanged);
    }
    if (!(descent < 0)) return false;
    const Matrix lower = lower_, metric = metric_;
    const Matrix identity = Matrix::Identity(metric.rows(), metric.rows());
    double length = 1;
    for (int trial = 0; trial < 60; ++trial, length *= 0.5) {
      const Matrix next = symmetrized(product_transposed(product(lower, identity + length * direction), lower));
      if (measure(next) && stage_objective_ <= before + 1e-4 * length * descent) return true;
    }
    measure(metric);
    return false;
  }

  const Matrix& metric() const { return metric_; }
  double objective() const { return objective_; }
  // The objective with its barriers, which a step decreases, and its derivative with respect to X at X = 0.
  double stage_objective() const { return stage_objective_; }
  Matrix stage_slope() const { return slope_ - weight_ * Matrix::Identity(slope_.rows(), slope_.cols()); }

  // The slopes of the costs are feasible multipliers, whose A^-1 is L^-T (I + G) L^-1, G the slope; -infinity far from
  // the optimum of the stage.
  double bound() const {
    const Vector values = symmetric_eigenvalues(slope_);
    if (!(values.minCoeff() > -1)) return -std::numeric_limits<double>::infinity();
    return values.array().log1p().sum() - log_det_ - prior_log_det_ + dual_costs_;
  }

 private:
  // The cost price * slack_divergence(slack / bound) - weight log(|slack - divergence| / bound) at the best slack,
  // beyond the divergence of a similar pair and below that of a dissimilar one: the larger or the smaller root of
  // slack^2 - (bound + divergence + e bound) slack + bound divergence = 0 with e = weight / price.
  struct SlackCost {
    double slack = 0, value = 0, slope = 0, curvature = 0;
  };

  static SlackCost slack_cost(double sign, double price, double bound, double divergence, double weight) {
    const double shift = weight / price * bound;
    const double width = std::sqrt(std::pow(bound - divergence, 2) + shift * (2 * (bound + divergence) + shift));
    SlackCost cost;
    // (slack - bound) (slack - divergence) = shift * slack: of the two distances the larger one is exact to rounding,
    // and gives the other.
    const double larger = (std::abs(bound - divergence) + sign * shift + width) / 2;
    const bool from_divergence = sign * (bound - divergence) >= 0;
    cost.slack = (from_divergence ? divergence : bound) + sign * larger;
    if (sign < 0) {  // avoids a difference: the product of the roots is known
      cost.slack = bound * divergence / ((bound + divergence + shift + width) / 2);
    }
    const double smaller = shift * cost.slack / larger;
    const double from_bound = sign * (from_divergence ? smaller : larger);
    const double room = from_divergence ? larger : smaller;
    cost.value = price * slack_divergence(cost.slack / bound) - weight * std::log(room / bound);
    cost.slope = price * from_bound / (bound * cost.slack);
    cost.curvature = price / (cost.slack * cost.slack) * std::abs(from_bound) / width;
    return cost;
  }

  // Objective and slope at a metric; false, and nothing changes, where it is not positive definite.
  bool measure(const Matrix& metric) {
    const PositiveDefinite factor(metric);
    if (!factor.succeeded()) return false;
    metric_ = metric;
    lower_ = factor.lower();
    log_det_ = factor.log_determinant();
    seen_ = product(constraints_.differences, lower_);
    const Vector divergences = seen_.rowwise().squaredNorm();
    const Index features = metric.rows();
    const double from_prior =
        metric.cwiseProduct(prior_inverse_).sum() - log_det_ - prior_log_det_ - static_cast<double>(features);
    objective_ = from_prior;
    stage_objective_ = from_prior - weight_ * log_det_;
    dual_costs_ = 0;
    Vector slopes = Vector::Zero(constraints_.size());
    curvatures_ = Vector::Zero(constraints_.size());
    for (Index t = 0; t < constraints_.size(); ++t) {
      const double sign = constraints_.signs(t), price = constraints_.slack_prices(t), bound = constraints_.bounds(t);
      if (sign * (divergences(t) - bound) > 0) objective_ += price * slack_divergence(divergences(t) / bound);
      const SlackCost cost = slack_cost(sign, price, bound, divergences(t), weight_);
      stage_objective_ += cost.value;
      slopes(t) = cost.slope;
      curvatures_(t) = cost.curvature;
      dual_costs_ += price * std::log(bound / cost.slack);
    }
    slope_ = symmetrized(transposed_product(lower_, product(prior_inverse_, lower_)) -
                         Matrix::Identity(features, features) + transposed_product(seen_, slopes.asDiagonal() * seen_));
    return std::isfinite(objective_) && std::isfinite(stage_objective_) && slope_.allFinite();
  }

  Matrix newton_direction() const {
    const Index features = metric_.rows();
    Matrix curvature(constraints_.size(), packed_size(features));
    for (Index t = 0; t < curvature.rows(); ++t) {
      const double factor = std::sqrt(curvatures_(t));
      const auto entry = [&, u = seen_.row(t).data()](Index i, Index j) { return factor * u[i] * u[j]; };
      pack_symmetric(features, entry, curvature.row(t).data());
    }
    Vector slope(packed_size(features));
    pack_symmetric(features, stage_slope(), slope.data());
    const double identity = 1 + weight_;  // of -log det, in the objective and as a barrier
    curvature /= std::sqrt(identity);
    return -unpack_symmetric(solve_with_identity(curvature, slope / identity), features);
  }

  // (I + S^T S)^-1 g, through the smaller of the two Gram matrices.
  static Vector solve_with_identity(const Matrix& s, const Vector& g) {
    const bool rows_are_fewer = s.rows() < s.cols();
    if (s.size() == 0) return g;
    Matrix gram = rows_are_fewer ? product_transposed(s, s) : transposed_product(s, s);
    gram.diagonal().array() += 1;
    const PositiveDefinite factor(gram);
    if (!rows_are_fewer) return factor.solve(g);
    return g - apply_transposed(s, factor.solve(apply(s, g)));
  }

  const ItmlConstraints& constraints_;
  const Matrix& prior_inverse_;
  double log_det_ = 0, prior_log_det_ = 0;  // of A and of A_0^-1
  Matrix metric_, lower_, slope_;
  Matrix seen_;        // L^T v, one per row
  Vector curvatures_;  // second derivatives of the costs of the slacks by the divergences
  double objective_ = 0, stage_objective_ = 0;
  double dual_costs_ = 0;  // what the slacks add to the dual objective
  double weight_ = 0;      // of the barrier
};

}  // namespace bregmax::internal
