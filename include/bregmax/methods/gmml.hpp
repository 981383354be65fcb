#pragma once

#include "bregmax/methods/learned.hpp"

namespace bregmax {

// Geometric mean metric learning (Zadeh, Hosseini and Sra 2016). With the scatter S of the differences of similar pairs
// and D of dissimilar ones, the point at t of the geodesic from S^-1 to D in the manifold of positive definite
// matrices,
//
//   A = S^-1 #_t D = S^-1/2 (S^1/2 D S^1/2)^t S^-1/2,
//
// which minimises (1 - t) dist^2(A, S^-1) + t dist^2(A, D) for the Riemannian distance; for t = 1/2 it also minimises
// tr(A S) + tr(A^-1 D). Both scatters are regularised towards the prior A_0 = sqrt(tr D / tr S) I:
// S + lambda c A_0^-1 and D + lambda c A_0 with c = sqrt(tr S tr D) / d, so that lambda has no unit.
//
// A closed form: no iterations. The objective is the one above, the stationarity the norm of its Riemannian gradient.
struct GmmlOptions {
  double t = 0.5;        // 0 .. 1
  double lambda = 1e-6;  // >= 0; 0 needs scatters of full rank
};

Learned learn_gmml(const MatrixView& rows, const Pairs& pairs, const GmmlOptions& options = {});
// From all pairs of rows, in time that is linear in their number.
Learned learn_gmml(const MatrixView& rows, const ClassOfRow& class_of_row, const GmmlOptions& options = {});

}  // namespace bregmax
