#pragma once

// Matrix products and linear solves, compiled once. Each combination of types that is written with Eigen's operators
// adds one to five seconds to the time that a file takes to compile. Loops whose speed matters use core/blas.hpp.

#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

Matrix product(const MatrixView& a, const MatrixView& b);                               // a b
Matrix transposed_product(const MatrixView& a, const MatrixView& b);                    // a' b
Matrix product_transposed(const MatrixView& a, const MatrixView& b);                    // a b'
void set_product_transposed(const MatrixView& a, const MatrixView& b, MatrixSpan out);  // by Eigen, for parallel loops
Matrix inverse_of_lower(const MatrixView& a);                                           // of the lower triangle
Vector apply(const MatrixView& a, const VectorView& x);                                 // a x
Vector apply_transposed(const MatrixView& a, const VectorView& x);                      // a' x

// The Cholesky factorization of a positive definite matrix, whose lower triangle is read.
class PositiveDefinite {
 public:
  explicit PositiveDefinite(const MatrixView& matrix);

  bool succeeded() const { return succeeded_; }   // false: the matrix is not positive definite
  const Matrix& lower() const { return lower_; }  // zero above the diagonal
  double log_determinant() const;
  Matrix inverse() const;
  Matrix whitened(Matrix symmetric) const;  // L^-1 M L'^-1
  Vector solve(const VectorView& right) const;

 private:
  bool succeeded_;
  Matrix lower_;
};

// The LU factorization of a square matrix that is not singular.
class LinearSystem {
 public:
  void factor(const MatrixView& matrix);
  void solve(VectorSpan right) const;  // in place

 private:
  Matrix factors_;  // LAPACK's factors of the transpose
  std::vector<int> pivots_;
};

}  // namespace bregmax::internal
