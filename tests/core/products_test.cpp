#include "core/products.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "bregmax/core/random.hpp"

namespace bregmax::internal {
namespace {

Matrix random_matrix(Random& random, Index rows, Index columns) {
  Matrix matrix(rows, columns);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal();
  return matrix;
}

// The definition, without Eigen's products.
Matrix by_definition(const Matrix& a, const Matrix& b) {
  Matrix sums = Matrix::Zero(a.rows(), b.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < b.cols(); ++j) {
      for (Index k = 0; k < a.cols(); ++k) sums(i, j) += a(i, k) * b(k, j);
    }
  }
  return sums;
}

TEST(Products, FollowTheDefinition) {
  Random random(1);
  for (const auto [rows, inner, columns] : {std::array<Index, 3>{1, 1, 1}, {3, 5, 2}, {40, 7, 33}}) {
    const Matrix a = random_matrix(random, rows, inner), b = random_matrix(random, inner, columns);
    const Matrix expected = by_definition(a, b);
    EXPECT_TRUE(product(a, b).isApprox(expected, 1e-12));
    EXPECT_TRUE(transposed_product(a.transpose(), b).isApprox(expected, 1e-12));
    EXPECT_TRUE(product_transposed(a, b.transpose()).isApprox(expected, 1e-12));
    const Vector x = b.col(0), y = expected.col(0);
    EXPECT_LE((apply(a, x) - y).norm(), 1e-12 * (1 + y.norm()));
    EXPECT_LE((apply_transposed(a.transpose(), x) - y).norm(), 1e-12 * (1 + y.norm()));
  }
}

TEST(PositiveDefinite, FactorsSolvesAndInverts) {
  Random random(2);
  const Matrix root = random_matrix(random, 6, 6);
  const Matrix matrix = by_definition(root, root.transpose()) + Matrix::Identity(6, 6);
  const PositiveDefinite factor(matrix);
  ASSERT_TRUE(factor.succeeded());
  EXPECT_TRUE(by_definition(factor.lower(), factor.lower().transpose()).isApprox(matrix, 1e-12));
  EXPECT_TRUE(by_definition(factor.inverse(), matrix).isApprox(Matrix::Identity(6, 6), 1e-10));
  EXPECT_TRUE(factor.whitened(3 * matrix).isApprox(3 * Matrix::Identity(6, 6), 1e-10));
  const Vector right = random_matrix(random, 6, 1).col(0);
  EXPECT_TRUE(by_definition(matrix, factor.solve(right)).col(0).isApprox(right, 1e-10));
  const Matrix diagonal = Vector::LinSpaced(3, 1, 3).asDiagonal();
  EXPECT_NEAR(PositiveDefinite(diagonal).log_determinant(), std::log(6.0), 1e-14);
}

TEST(PositiveDefinite, SaysWhereAMatrixIsNot) {
  Matrix matrix = Matrix::Identity(3, 3);
  matrix(1, 1) = -1;
  EXPECT_FALSE(PositiveDefinite(matrix).succeeded());
}

TEST(LinearSystem, SolvesWhatIsNotSymmetric) {
  Random random(3);
  const Matrix matrix = random_matrix(random, 7, 7);
  const Vector expected = random_matrix(random, 7, 1).col(0);
  Vector right = by_definition(matrix, expected).col(0);
  LinearSystem system;
  system.factor(matrix);
  system.solve(right);
  EXPECT_TRUE(right.isApprox(expected, 1e-10));
}

}  // namespace
}  // namespace bregmax::internal
