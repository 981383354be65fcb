#pragma once

#include "bregmax/methods/learned.hpp"

namespace bregmax {

enum class ItmlPrior { kIdentity, kInverseCovariance };

// Information-theoretic metric learning (Davis, Kulis, Jain, Sra and Dhillon 2007):
//
//   minimise    D_ld(A, A_0) + gamma sum_t w_t D_ld(xi_t, bound_t)
//   subject to  (x_i - x_j)^T A (x_i - x_j) <= xi_t   for similar pairs, bound_t = `upper`
//                                           >= xi_t   for dissimilar pairs, bound_t = `lower`
//
// with D_ld(X, Y) = tr(X Y^-1) - log det(X Y^-1) - d, by cyclic Bregman projections, each a rank-one update of A.
// Their gap falls by about the same factor in every sweep; where that shows, after 20 sweeps, that they would take
// longer than Newton's method on the same objective, that goes on from there, unless there are so many pairs and
// features that its steps are not affordable. An iteration is one projection onto every pair, or one Newton step. The
// stationarity is the duality gap over 1 + |objective|: for any A the best slacks are known, which gives the objective,
// and the multipliers are always feasible.
//
// Pairs of equal rows say nothing about A when they are similar and cannot be met when they are not: they are left out.
struct ItmlOptions {
  double gamma = 1;                        // > 0
  ItmlPrior prior = ItmlPrior::kIdentity;  // A_0
  double upper = 0, lower = 0;             // of the divergence under A_0, > 0; 0: the percentiles below
  double upper_percentile = 5;             // 0 .. 100, of the divergences of all pairs of rows under A_0
  double lower_percentile = 95;            // 0 .. 100
  MethodLimits limits{1e-6, 10'000, 0};
};

Learned learn_itml(const MatrixView& rows, const Pairs& pairs, const ItmlOptions& options = {},
                   const RunControl& control = {});

}  // namespace bregmax
