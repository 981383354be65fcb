#include "core/products.hpp"

#include <Eigen/Cholesky>

namespace bregmax::internal {

Matrix product(const MatrixView& a, const MatrixView& b) { return a * b; }

Matrix transposed_product(const MatrixView& a, const MatrixView& b) { return a.transpose() * b; }

Matrix product_transposed(const MatrixView& a, const MatrixView& b) { return a * b.transpose(); }

Vector apply(const MatrixView& a, const VectorView& x) { return a * x; }

Vector apply_transposed(const MatrixView& a, const VectorView& x) { return a.transpose() * x; }

PositiveDefinite::PositiveDefinite(const MatrixView& matrix) {
  const Eigen::LLT<Matrix> factorization(matrix);
  succeeded_ = factorization.info() == Eigen::Success;
  lower_ = factorization.matrixL();
}

double PositiveDefinite::log_determinant() const { return 2 * lower_.diagonal().array().log().sum(); }

Matrix PositiveDefinite::inverse() const {
  Matrix solution = Matrix::Identity(lower_.rows(), lower_.rows());
  lower_.triangularView<Eigen::Lower>().solveInPlace(solution);
  lower_.transpose().triangularView<Eigen::Upper>().solveInPlace(solution);
  return solution;
}

Vector PositiveDefinite::solve(const VectorView& right) const {
  Vector solution = lower_.triangularView<Eigen::Lower>().solve(right);
  lower_.transpose().triangularView<Eigen::Upper>().solveInPlace(solution);
  return solution;
}

}  // namespace bregmax::internal
