#include "optimize/orthogonal_least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/random.hpp"

namespace bregmax::internal {
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
  for (const DoubleDouble& number : numbers) most = std::max(most, std::abs(static_cast<double>(number)));
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

// Each column is seen by rows of its own, which are smaller by up to 1e-24 than those of the others.
TEST(OrthogonalLeastSquares, LosesNoSmallRows) {
  Random random(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    Rows j = normal_rows(random, 30, 6);
    for (Eigen::Index r = 0; r < j.rows(); ++r) {
      j.row(r) *= DoubleDouble(std::pow(10, -24 * random.uniform()));
    }
    const Numbers target = normal_rows(random, 6, 1);
    EXPECT_LE(largest(j.transpose() * solve(j, target) - target), 1e-15 * largest(target));
  }
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
}  // namespace bregmax::internal
