#pragma once

#include <optional>

#include "bregmax/methods/learned.hpp"

namespace bregmax {

enum class NcaForm { kFull, kDiagonal };

struct NcaOptions {
  NcaForm form = NcaForm::kFull;
  // Rows of the learned matrix A, 1 .. features; 0: as many as features. The diagonal form has as many.
  int components = 0;
  // The first A, components x features (diagonal form: a diagonal matrix); none: the identity, or the first principal
  // directions where there are fewer components than features.
  std::optional<Matrix> start = {};
  MethodLimits limits = {.tolerance = 1e-4, .max_iterations = 500};
};

struct NcaResult {
  Learned learned;   // Mahalanobis with the matrix A^T A
  Matrix transform;  // A
};

// Neighbourhood component analysis (Goldberger, Roweis, Hinton & Salakhutdinov 2005). Row i takes another row j as its
// neighbour with probability p_ij proportional to exp(-||A x_i - A x_j||^2), and
//
//   F(A) = sum_i sum_{j of the class of i} p_ij
//
// is the expected number of rows that get their class right; -F(A) is minimised by L-BFGS. F is not concave: what is
// found is a stationary point, which depends on the start. Where the start leaves the median row without a neighbour
// within distance 1, the probabilities are all 0 or 1 and hardly change with A; the start is then scaled down to give
// it one (A's scale is learned anyhow). The result is never worse than the start that was given.
//
// objective: -F. stationarity: ||A|| ||F'(A)|| / rows in the coordinates that are optimised (features made
// uncorrelated, or of unit variance for the diagonal form): by how much the share of right rows changes, to first
// order, when A changes by as much as itself.
NcaResult learn_nca(const MatrixView& rows, const ClassOfRow& class_of_row, const NcaOptions& options = {},
                    const RunControl& control = {});

}  // namespace bregmax
