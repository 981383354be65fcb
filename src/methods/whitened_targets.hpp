#pragma once

#include "bregmax/core/matrix.hpp"
#include "bregmax/core/supervision.hpp"

namespace bregmax::internal {

// Residuals, objective and the derivative of the objective at a matrix.
struct TargetsFit {
  Vector residuals;
  Matrix slope;
  double objective = 0;
};

// Least squares of targets y_t over matrices M, sum_t w_t (v_t^T M v_t - y_t)^2, in coordinates u = W^T v in which
// sum_t w_t u_t u_t^T is the identity: it is then well conditioned whatever the units and correlations of the features,
// and adding c w_t to the multipliers adds c I to the slope, which is what makes every set of multipliers feasible.
struct WhitenedTargets {
  WhitenedTargets(const MatrixView& rows, const Targets& targets);

  Index rank() const { return differences.cols(); }
  double zero_objective() const { return weights.dot(values.cwiseAbs2()); }
  TargetsFit measure(const Matrix& metric) const;
  // On the objective of every positive semidefinite matrix.
  double lower_bound(const TargetsFit& fit) const;

  Matrix whitening;    // d x r
  Matrix differences;  // targets x r
  Vector values;
  Vector weights;  // > 0
};

}  // namespace bregmax::internal
