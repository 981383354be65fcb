#include "core/products.hpp"

#include "core/blas.hpp"

namespace bregmax::internal {

namespace {

Matrix multiply(const MatrixView& a, bool transpose_a, const MatrixView& b, bool transpose_b) {
  Matrix out(transpose_a ? a.cols() : a.rows(), transpose_b ? b.rows() : b.cols());
  gemm(transpose_a, transpose_b, out.rows(), out.cols(), transpose_a ? a.rows() : a.cols(), 1, a.data(),
       a.outerStride(), b.data(), b.outerStride(), 0, out.data(), out.cols());
  return out;
}

// right = L^-1 right, or L'^-1 right.
void solve_lower(const MatrixView& lower, CBLAS_TRANSPOSE transpose, Matrix& right) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, static_cast<int>(right.rows()),
              static_cast<int>(right.cols()), 1, lower.data(), static_cast<int>(lower.outerStride()), right.data(),
              static_cast<int>(right.cols()));
}

}  // namespace

Matrix product(const MatrixView& a, const MatrixView& b) { return multiply(a, false, b, false); }

Matrix transposed_product(const MatrixView& a, const MatrixView& b) { return multiply(a, true, b, false); }

Matrix product_transposed(const MatrixView& a, const MatrixView& b) { return multiply(a, false, b, true); }

void set_product_transposed(const MatrixView& a, const MatrixView& b, MatrixSpan out) {
  out.noalias() = a * b.transpose();
}

Matrix inverse_of_lower(const MatrixView& a) {
  Matrix out = Matrix::Identity(a.rows(), a.rows());
  solve_lower(a, CblasNoTrans, out);
  return out;
}

Vector apply(const MatrixView& a, const VectorView& x) { return a * x; }

Vector apply_transposed(const MatrixView& a, const VectorView& x) { return a.transpose() * x; }

// A row-major lower triangle is LAPACK's upper one.
PositiveDefinite::PositiveDefinite(const MatrixView& matrix) : lower_(matrix.triangularView<Eigen::Lower>()) {
  const int size = static_cast<int>(lower_.rows());
  int info = 0;
  dpotrf_("U", &size, lower_.data(), &size, &info);
  succeeded_ = info == 0;
}

double PositiveDefinite::log_determinant() const { return 2 * lower_.diagonal().array().log().sum(); }

Matrix PositiveDefinite::inverse() const {
  Matrix solution = inverse_of_lower(lower_);
  solve_lower(lower_, CblasTrans, solution);
  return solution;
}

Matrix PositiveDefinite::whitened(Matrix symmetric) const {
  solve_lower(lower_, CblasNoTrans, symmetric);
  symmetric.transposeInPlace();
  solve_lower(lower_, CblasNoTrans, symmetric);
  return symmetric;
}

Vector PositiveDefinite::solve(const VectorView& right) const {
  const int size = static_cast<int>(lower_.rows());
  Vector solution = right;
  for (const auto transpose : {CblasNoTrans, CblasTrans}) {
    cblas_dtrsv(CblasRowMajor, CblasLower, transpose, CblasNonUnit, size, lower_.data(), size, solution.data(), 1);
  }
  return solution;
}

void LinearSystem::factor(const MatrixView& matrix) {
  const int size = static_cast<int>(matrix.rows());
  factors_ = matrix;
  pivots_.resize(matrix.rows());
  int info = 0;
  dgetrf_(&size, &size, factors_.data(), &size, pivots_.data(), &info);
}

void LinearSystem::solve(VectorSpan right) const {
  const int size = static_cast<int>(factors_.rows()), one = 1;
  int info = 0;
  dgetrs_("T", &size, &one, factors_.data(), &size, pivots_.data(), right.data(), &size, &info);
}

}  // namespace bregmax::internal
