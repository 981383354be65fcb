#pragma once

// Symmetric matrices. The eigenvalue solver is compiled once, in symmetric.cpp: its templates take 15 s per file.

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

inline Matrix symmetrized(const Matrix& matrix) { return 0.5 * (matrix + matrix.transpose()); }

// Eigenvalues, ascending, and eigenvectors of a symmetric matrix, whose lower triangle is read.
struct SymmetricEigen {
  explicit SymmetricEigen(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

  Vector values;
  Eigen::MatrixXd vectors;  // one eigenvector per column
};

Vector symmetric_eigenvalues(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

// Applies a function to the eigenvalues of a symmetric matrix.
template <class Function>
Matrix spectral(const Matrix& matrix, const Function& function) {
  const SymmetricEigen eigen(matrix);
  return eigen.vectors * eigen.values.unaryExpr(function).asDiagonal() * eigen.vectors.transpose();
}

}  // namespace bregmax::internal
