#include "core/symmetric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"

namespace bregmax::internal {
namespace {

Matrix random_symmetric(Index size, std::uint64_t seed) {
  Random random(seed);
  Matrix matrix(size, size);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal();
  return symmetrized(matrix);
}

TEST(SymmetricEigen, DecomposesTheMatrix) {
  for (const Index size : {1, 2, 4, 30, 90}) {
    const Matrix matrix = random_symmetric(size, 1);
    const SymmetricEigen eigen(matrix);
    EXPECT_TRUE((eigen.vectors.transpose() * eigen.vectors).isApprox(Matrix::Identity(size, size), 1e-12));
    EXPECT_TRUE((eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose()).isApprox(matrix, 1e-12));
    EXPECT_TRUE(std::is_sorted(eigen.values.begin(), eigen.values.end()));
    EXPECT_TRUE(symmetric_eigenvalues(matrix).isApprox(eigen.values, 1e-12));
    EXPECT_TRUE(spectral(matrix, [](double value) { return value * value; }).isApprox(matrix * matrix, 1e-11));
  }
}

TEST(SymmetricEigen, ReadsTheLowerTriangle) {
  Matrix matrix(2, 2);
  matrix << 2, 100, 1, 2;
  EXPECT_TRUE(symmetric_eigenvalues(matrix).isApprox(Vector{{1, 3}}, 1e-14));
}

TEST(SymmetricEigen, NumberOfThreadsDoesNotChangeADigit) {
  for (const Index size : {4, 30, 200}) {
    const Matrix matrix = random_symmetric(size, 2);
    const auto with = [&](int threads) {
      const ThreadLimit limit(threads);
      return SymmetricEigen(matrix);
    };
    const SymmetricEigen one = with(1), two = with(2);
    EXPECT_EQ(one.values, two.values) << size;
    EXPECT_EQ(one.vectors, two.vectors) << size;
    Vector first;
#pragma omp parallel for num_threads(2)
    for (int t = 0; t < 2; ++t) {
      const SymmetricEigen inside(matrix);
      if (t == 0) first = inside.values;
    }
    EXPECT_EQ(one.values, first) << size;
  }
}

TEST(SymmetricEigen, OfAMatrixThatIsNotFiniteAreNaN) {
  Matrix matrix = Matrix::Identity(3, 3);
  matrix(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(symmetric_eigenvalues(matrix).array().isNaN().all());
  EXPECT_TRUE(SymmetricEigen(matrix).values.array().isNaN().all());
}

}  // namespace
}  // namespace bregmax::internal
