#include "core/double_double.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "bregmax/core/random.hpp"

namespace bregmax::internal {
namespace {

using Number = DoubleDouble;

Number random_number(Random& random) {
  return Number(random.normal()) * std::exp(10 * random.normal()) + Number(1e-17 * random.normal());
}

double error(const Number& is, const Number& should_be) {
  return std::abs(static_cast<double>((is - should_be) / should_be));
}

TEST(DoubleDouble, HoldsTwiceTheDigits) {
  EXPECT_EQ(static_cast<double>((Number(1) + Number(0x1p-100)) - Number(1)), 0x1p-100);
  EXPECT_EQ(static_cast<double>(Number(1 + 0x1p-50) * Number(1 + 0x1p-50) - Number(1) - Number(0x1p-49)), 0x1p-100);
}

TEST(DoubleDouble, OperationsUndoEachOther) {
  Random random(1);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    const Number a = random_number(random), b = random_number(random);
    EXPECT_LE(error(a / b * b, a), 1e-30);
    EXPECT_LE(error(a * b / b, a), 1e-30);
    EXPECT_LE(error(sqrt(a * a), abs(a)), 1e-30);
    EXPECT_LE(std::abs(static_cast<double>((a + b) - b - a)), 1e-31 * static_cast<double>(abs(a) + abs(b)));
    EXPECT_EQ(static_cast<double>((a + b) - (b + a)), 0);
  }
}

TEST(DoubleDouble, IsOrderedByBothParts) {
  const Number one = 1, more = one + Number(1e-30), less = one - Number(1e-30);
  EXPECT_LT(less, one);
  EXPECT_LT(one, more);
  EXPECT_GT(more, less);
  EXPECT_LE(one, one);
  EXPECT_GE(one, less);
  EXPECT_EQ(one, Number(1));
  EXPECT_FALSE(one == more);
  EXPECT_EQ(abs(-more), more);
}

TEST(DoubleDouble, FactorsMatricesThatDoublesCannot) {
  constexpr int kSize = 12;
  Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic> hilbert(kSize, kSize);
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) hilbert(i, j) = Number(1) / Number(i + j + 1);
  }
  Eigen::Matrix<Number, Eigen::Dynamic, 1> ones(kSize);
  ones.setOnes();
  const Eigen::Matrix<Number, Eigen::Dynamic, 1> solved = hilbert.llt().solve(hilbert * ones);
  for (int i = 0; i < kSize; ++i) EXPECT_NEAR(static_cast<double>(solved(i)), 1, 1e-13);  // its condition is 1e16
}

}  // namespace
}  // namespace bregmax::internal
