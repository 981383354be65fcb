#include "core/cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/random.hpp"
#include "core/blas.hpp"

namespace bregmax::internal {
namespace {

Matrix positive_definite(Random& random, Index rows) {
  Matrix half(rows, rows);
  for (double& value : half.reshaped()) value = random.normal();
  Matrix whole = half * half.transpose();
  whole.diagonal().array() += 1;
  return whole;
}

// Sizes on both sides of a block and of several.
TEST(Cholesky, TimesItsTransposeGivesTheMatrix) {
  Random random(1);
  Cholesky cholesky(200);
  for (const Index rows : {0, 1, 2, 47, 48, 49, 96, 97, 200}) {
    SCOPED_TRACE(rows);
    constexpr Index kBeyond = 3;  // columns of the storage that are not of the matrix
    const Matrix matrix = positive_definite(random, rows);
    Matrix stored = Matrix::Constant(rows, rows + kBeyond, 7);
    stored.leftCols(rows).triangularView<Eigen::Lower>() = matrix;
    ASSERT_TRUE(cholesky.factor(stored.data(), rows, rows + kBeyond));
    const Matrix factor = stored.leftCols(rows).triangularView<Eigen::Lower>();
    EXPECT_LE((factor * factor.transpose() - matrix).norm(), 1e-13 * (1 + matrix.norm()));
    for (Index i = 0; i < rows; ++i) {
      for (Index j = i + 1; j < rows + kBeyond; ++j) EXPECT_EQ(stored(i, j), 7) << "above the diagonal";
    }
  }
}

TEST(Cholesky, SaysWhatIsNotPositiveDefinite) {
  Random random(2);
  Cholesky cholesky(120);
  for (const Index at : {0, 50, 119}) {
    Matrix matrix = positive_definite(random, 120);
    matrix(at, at) = -1;
    EXPECT_FALSE(cholesky.factor(matrix.data(), 120, 120)) << at;
  }
}

// Weights of an interior point method spread over many powers of ten.
TEST(Cholesky, IsAsAccurateAsLapacksOnUnevenScales) {
  Random random(3);
  constexpr Index kRows = 150;
  Matrix half(kRows, kRows);
  for (double& value : half.reshaped()) value = random.normal();
  Vector scale(kRows);
  for (double& value : scale) value = std::pow(10.0, 12 * random.uniform() - 6);
  Matrix matrix = half * scale.asDiagonal() * half.transpose();
  matrix.diagonal().array() += 1e-6;
  const Matrix whole = matrix;
  Cholesky cholesky(kRows);
  ASSERT_TRUE(cholesky.factor(matrix.data(), kRows, kRows));
  const Matrix factor = matrix.triangularView<Eigen::Lower>();
  Matrix other = whole;
  const int rows = kRows;
  int info = 0;
  dpotrf_("U", &rows, other.data(), &rows, &info);  // row-major lower = column-major upper
  ASSERT_EQ(info, 0);
  const Matrix of_other = other.triangularView<Eigen::Lower>();
  const double error = (factor * factor.transpose() - whole).norm();
  EXPECT_LE(error, 4 * (of_other * of_other.transpose() - whole).norm());
}

}  // namespace
}  // namespace bregmax::internal
