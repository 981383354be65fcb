#pragma once

#include "bregmax/methods/learned.hpp"

namespace bregmax {

// The least squares fit of a Mahalanobis divergence to target values, over all positive semidefinite matrices M:
//
//   minimise  sum_t w_t (v_t^T M v_t - y_t)^2,   v_t = x_i - x_j
//
// by accelerated projected gradients on differences that are first whitened. The stationarity is the duality gap over
// the objective of M = 0: the bound is proved by multipliers made feasible, so it does not depend on the method. Where
// the differences do not span all features, M is 0 outside of their span.
struct MahalanobisRegressionOptions {
  MethodLimits limits{1e-8, 100'000, 0};
};

Learned learn_mahalanobis_regression(const MatrixView& rows, const Targets& targets,
                                     const MahalanobisRegressionOptions& options = {}, const RunControl& control = {});

}  // namespace bregmax
