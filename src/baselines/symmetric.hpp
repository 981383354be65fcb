#pragma once

// Small helpers for symmetric matrices, which are the same row by row and column by column.

#include <Eigen/Eigenvalues>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

inline Matrix symmetrized(const Matrix& matrix) { return 0.5 * (matrix + matrix.transpose()); }

// function(matrix) through its eigenvalues.
template <class Function>
Matrix spectral(const Matrix& matrix, const Function& function) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(matrix);
  const Vector values = eigen.eigenvalues().unaryExpr(function);
  return eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
}

inline double smallest_eigenvalue(const Matrix& matrix) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(matrix, Eigen::EigenvaluesOnly).eigenvalues().minCoeff();
}

}  // namespace bregmax::internal
