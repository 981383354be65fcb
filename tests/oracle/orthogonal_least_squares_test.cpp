#include "oracle/orthogonal_least_squares.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "bregmax/core/random.hpp"

namespace bregmax::oracle {
namespace {

using Rows = OrthogonalLeastSquares::Rows;
using Numbers = OrthogonalLeastSquares::Numbers;

Rows normal_rows(Random& random, Eigen::Index rows, Eigen::Index columns) {
  Rows matrix(rows, columns);
  for (DoubleDouble& value : matrix.reshaped()) value = random.normal();
  return matrix;
}

double largest(const Numbers& numbers) {
  double most = 0;
  for (const DoubleDouble& number : numbers) {
    if (!number.is_finite()) return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(static_cast<double>(number)));
  }
  return most;
}

Numbers solve(const Rows& j, const Numbers& target) {
  OrthogonalLeastSquares least_squares;
  least_squares.factor(j);
  return least_squares.solve(target);
}

// J u is the shortest of all z with J' z = J' J u.
TEST(OrthogonalLeastSquares, GivesTheShortest) {
  Random random(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Rows j = normal_rows(random, 12, 5);
    const Numbers u = normal_rows(random, 5, 1), shortest = j * u, target = j.transpose() * shortest;
    EXPECT_LE(largest(solve(j, target) - shortest), 1e-27 * largest(shortest));
  }
}

// Two columns that only rows of 1e-17 tell apart: their squares are lost in those of the others.
TEST(OrthogonalLeastSquares, LosesNoSmallRows) {
  Random random(2);
  int lost = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Rows j = normal_rows(random, 20, 4);
    j.col(3) = j.col(2);
    for (Eigen::Index r = 15; r < j.rows(); ++r) {
      j(r, 3) = random.normal();
      j.row(r) *= DoubleDouble(1e-17);
    }
    const Numbers target = normal_rows(random, 4, 1);
    EXPECT_LE(largest(j.transpose() * solve(j, target) - target), 1e-7 * largest(target));
    const Rows normal = j.transpose() * j;
    const Eigen::LLT<Rows> factor(normal);
    lost += factor.info() != Eigen::Success ||
                    largest(j.transpose() * (j * factor.solve(target)) - target) > 1e-3 * largest(target)
                ? 1
                : 0;
  }
  EXPECT_GE(lost, 10) << "the normal equations would have done";
}

// Two that have to be equal: both get the mean.
TEST(OrthogonalLeastSquares, MeetsWhatCannotBeAsNearlyAsMayBe) {
  Random random(4);
  Rows j = normal_rows(random, 9, 2);
  j.col(1) = j.col(0);
  Numbers target(2);
  target << DoubleDouble(1), DoubleDouble(3);
  const Numbers met = j.transpose() * solve(j, target);
  EXPECT_LE(largest(met - Numbers::Constant(2, DoubleDouble(2))), 1e-20);
}

TEST(OrthogonalLeastSquares, TakesColumnsThatDependOnEachOther) {
  Random random(3);
  Rows j = normal_rows(random, 9, 4);
  j.col(3) = j.col(0) + j.col(1);
  j.col(2).setZero();
  const Numbers u = normal_rows(random, 4, 1), target = j.transpose() * (j * u);
  EXPECT_LE(largest(solve(j, target) - j * u), 1e-8);
}

}  // namespace
}  // namespace bregmax::oracle
