#pragma once

#include <vector>

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

struct Wu2009Result {
  Learned learned;
  Vector weights;        // alpha
  double threshold = 0;  // b
  // After each iteration, the fraction of the pairs with d <= b, that is of those taken for similar.
  std::vector<double> similar_fractions;
};

// The Bregman distance functions of Wu, Jin, Hoi, Zhu and Yu (2009): phi(x) = sum_i alpha_i h(x^T x_i / s), alpha >= 0,
// over the training rows, with h(z) = z^2 or exp(z). The symmetrised divergence
// d(x, y) = <grad phi(x) - grad phi(y), x - y> shall exceed a threshold b for dissimilar pairs only:
//
//   minimise  1/2 alpha^T K alpha + C sum_t w_t max(0, 1 - y_t (d(x_i, x_j) - b)),   K_ij = h(x_i^T x_j / s), b >= 0
//
// with y = 1 for dissimilar and -1 for similar pairs. It is convex; the algorithm `exact` solves it by an interior
// point method. `subgradient` is the projected subgradient method of the paper, with steps step / t: it shows what that
// does (see docs/methods.md). The stationarity of both is the duality gap over the objective of alpha = 0, b = 0. The
// scale s is the largest squared norm of a row unless it is given, so that exp does not overflow; the paper's is 1.
Wu2009Result learn_wu2009(const MatrixView& rows, const Pairs& pairs, const MethodChoices& choices,
                          const RunControl& control = {});

}  // namespace bregmax::internal
