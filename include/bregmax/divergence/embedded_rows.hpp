#pragma once

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// Rows f(x) such that D(x, y) = ||f(x) - f(y)||^2, for tools that know the Euclidean distance only: the rows themselves
// for squared_euclidean, L x with L^T L the matrix of a mahalanobis divergence (as many columns as it has rank, at
// least one), f of an embedding. Throws Error for other divergences, which are not squared distances.
Matrix embedded_rows(const Divergence& divergence, const MatrixView& rows);

}  // namespace bregmax
