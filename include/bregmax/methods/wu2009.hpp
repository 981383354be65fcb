#pragma once

#include <vector>

#include "bregmax/methods/learned.hpp"

namespace bregmax {

enum class Wu2009Kernel { kSquare, kExponential };
enum class Wu2009Algorithm { kExact, kSubgradient };

// The Bregman distance functions of Wu, Jin, Hoi, Zhu and Yu (2009): phi(x) = sum_i alpha_i h(x^T x_i / s), alpha >= 0,
// over the training rows, with h(z) = z^2 or exp(z). The symmetrised divergence
// d(x, y) = <grad phi(x) - grad phi(y), x - y> shall exceed a threshold b for dissimilar pairs only:
//
//   minimise  1/2 alpha^T K alpha + C sum_t w_t max(0, 1 - y_t (d(x_i, x_j) - b)),   K_ij = h(x_i^T x_j / s), b >= 0
//
// with y = 1 for dissimilar and -1 for similar pairs. It is convex; kExact solves it by an interior point method.
// kSubgradient is the projected subgradient method of the paper, with steps step / t: it shows what that does (see
// docs/methods.md). The stationarity of both is the duality gap over the objective of alpha = 0, b = 0.
struct Wu2009Options {
  Wu2009Kernel kernel = Wu2009Kernel::kSquare;
  Wu2009Algorithm algorithm = Wu2009Algorithm::kExact;
  double c = 1;      // C > 0
  double scale = 0;  // s > 0; 0: the largest squared norm of a row, so that exp does not overflow. The paper's is 1.
  double step = 1;   // > 0, of the subgradient method
  MethodLimits limits{1e-6, 1000, 0};
};

struct Wu2009Metric {
  Learned learned;
  Vector weights;        // alpha
  double threshold = 0;  // b
  // After each iteration, the fraction of the pairs with d <= b, that is of those taken for similar.
  std::vector<double> similar_fractions;
  std::vector<double> weight_sums;  // and the sum of alpha
};

Wu2009Metric learn_wu2009(const MatrixView& rows, const Pairs& pairs, const Wu2009Options& options = {},
                          const RunControl& control = {});

}  // namespace bregmax
