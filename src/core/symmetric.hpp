#pragma once

// Symmetric matrices. The eigenvalues are LAPACK's, on one thread.

#include <functional>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

inline Matrix symmetrized(const Matrix& matrix) { return 0.5 * (matrix + matrix.transpose()); }

// Eigenvalues, ascending, and eigenvectors of a symmetric matrix, whose lower triangle is read. Of a matrix that is not
// finite the eigenvalues are NaN.
struct SymmetricEigen {
  explicit SymmetricEigen(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

  Vector values;
  Eigen::MatrixXd vectors;  // one eigenvector per column
};

Vector symmetric_eigenvalues(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

// Applies a function to the eigenvalues of a symmetric matrix.
Matrix spectral(const Matrix& matrix, const std::function<double(double)>& function);

}  // namespace bregmax::internal
