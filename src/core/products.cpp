#include "core/products.hpp"

#include <Eigen/Cholesky>

#include "core/blas.hpp"

namespace bregmax::internal {

namespace {

Matrix multiply(const MatrixView& a, bool transpose_a, const MatrixView& b, bool transpose_b) {
  Matrix out(transpose_a ? a.cols() : a.rows(), transpose_b ? b.rows() : b.cols());
  gemm(transpose_a, transpose_b, out.rows(), out.cols(), transpose_a ? a.rows() : a.cols(), 1, a.data(),
       a.outerStride(), b.data(), b.outerStride(), 0, out.data(), out.cols());
  return out;
}

}  // namespace

Matrix product(const MatrixView& a, const MatrixView& b) { return multiply(a, false, b, false); }

Matrix transposed_product(const MatrixView& a, const MatrixView& b) { return multiply(a, true, b, false); }

Matrix product_transposed(const MatrixView& a, const MatrixView& b) { return multiply(a, false, b, true); }

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
