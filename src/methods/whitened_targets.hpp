#pragma once

#include <algorithm>

#include "bregmax/core/supervision.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/training_rows.hpp"

namespace bregmax::internal {

// Residuals, objective and the derivative of the objective at a matrix.
struct TargetsFit {
  Vector residuals;
  Matrix slope;
  double objective = 0;
};

// Least squares of targets y_t over matrices M, sum_t w_t (v_t^T M v_t - y_t)^2, in coordinates u = W^T v in which
// sum_t w_t u_t u_t^T is the identity: it is then well conditioned for any units and correlations of the features, and
// adding c w_t to the multipliers adds c I to the slope, so that any multipliers can be made feasible.
struct WhitenedTargets {
  WhitenedTargets(const MatrixView& rows, Targets targets) {
    std::erase_if(targets, [](const Target& target) { return target.weight == 0; });
    const auto count = static_cast<Index>(targets.size());
    Matrix plain(count, rows.cols());
    values.resize(count);
    weights.resize(count);
    Index at = 0;
    for (const Target& target : targets) {
      plain.row(at) = rows.row(target.i) - rows.row(target.j);
      values(at) = target.value;
      weights(at++) = target.weight;
    }
    whitening = Whitening(transposed_product(plain, weights.asDiagonal() * plain), 1e-12).from;
    differences = product(plain, whitening);
  }

  Index rank() const { return differences.cols(); }
  double zero_objective() const { return weights.dot(values.cwiseAbs2()); }

  TargetsFit measure(const Matrix& metric) const {
    TargetsFit fit;
    fit.residuals = product(differences, metric).cwiseProduct(differences).rowwise().sum() - values;
    fit.objective = weights.dot(fit.residuals.cwiseAbs2());
    const Vector pull = 2 * weights.cwiseProduct(fit.residuals);
    fit.slope = transposed_product(differences, pull.asDiagonal() * differences);
    return fit;
  }

  // A bound on the objective of every positive semidefinite M. For multipliers u with sum_t u_t v_t v_t^T positive
  // semidefinite, w r^2 >= u r - u^2 / (4 w) gives the bound -sum u^2 / (4 w) - sum u y. The multipliers 2 w r are
  // shifted to be feasible, then scaled.
  double lower_bound(const TargetsFit& fit) const {
    const double shift = std::max(0.0, -symmetric_eigenvalues(fit.slope).minCoeff());
    const Vector multipliers = 2 * weights.cwiseProduct(fit.residuals) + shift * weights;
    const double square = 0.25 * multipliers.cwiseAbs2().cwiseQuotient(weights).sum();
    const double linear = -multipliers.dot(values);
    if (!(square > 0) || linear <= 0) return 0;
    return linear * linear / (4 * square);
  }

  Matrix whitening;    // W, d x r
  Matrix differences;  // targets x r
  Vector values;
  Vector weights;  // > 0
};

}  // namespace bregmax::internal
