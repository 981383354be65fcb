#pragma once

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

struct LmnnResult {
  Learned learned;         // Mahalanobis with the matrix L^T L
  Matrix transform;        // L
  double lower_bound = 0;  // proved: no matrix has an objective below it
};

// Large margin nearest neighbours (Weinberger & Saul 2009). The target neighbours of a row are the rows of its class
// that are nearest by the Euclidean distance of the features; with M = L^T L and d(i, j) = (x_i - x_j)^T M (x_i - x_j),
//
//   minimise  (1 - mu) sum_{i, j target of i} d(i, j)
//             + mu sum_{i, j target of i, l of another class} max(0, 1 + d(i, j) - d(i, l)).
//
// The problem is convex in M. It is solved in L, square, by the method of multipliers: the hinges are smoothed around
// multipliers that converge to the optimal ones, and each smooth problem is minimised by L-BFGS over a working set of
// impostors to which all that are missing are added. Each step decreases the smooth objective, and what is returned is
// the L with the lowest objective of the problem itself; it is never above the start's.
//
// objective: as above, over all triplets. stationarity: the duality gap (objective - lower_bound) / objective, where
// an objective below 1e-5 of that of M = 0 counts as that much: classes that are far apart leave no loss to speak of.
// The lower bound is that of the dual problem, at multipliers made feasible by scaling them down.
//
// The choices are `neighbours` and `push` (mu). `start`: the first L, features x features; null: the identity.
LmnnResult learn_lmnn(const MatrixView& rows, const ClassOfRow& class_of_row, const MethodChoices& choices,
                      const RunControl& control, const Matrix* start = nullptr);

}  // namespace bregmax::internal
