#include "bregmax/divergence/smoothed_max_affine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/max_affine.hpp"

namespace bregmax {
namespace {

Matrix normal_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
  return out;
}

struct Pieces {
  Matrix slopes;
  Vector offsets;
};

Pieces random_pieces(Random& random, double scale) {
  return {scale * normal_rows(random, 12, 3), scale * normal_rows(random, 12, 1)};
}

TEST(SmoothedMaxAffine, MatchesNumbersWorkedOutByHand) {
  // phi(x) = log(1 + e^x), g = 1 / (1 + e^-x); D(1, 0) = log(1 + e) - log 2 - 1/2.
  Matrix slopes(2, 1);
  slopes << 0, 1;
  const SmoothedMaxAffine softplus(slopes, Vector::Zero(2), 1);
  const Vector one = Vector::Ones(1), zero = Vector::Zero(1);
  EXPECT_NEAR(softplus.value(one, zero), std::log1p(std::exp(1.0)) - std::log(2.0) - 0.5, 1e-15);
  EXPECT_NEAR(softplus.generator_values(one)(0), std::log1p(std::exp(1.0)), 1e-15);
  EXPECT_NEAR(softplus.gradients(zero)(0, 0), 0.5, 1e-15);
  // Close rows: half the Hessian, 1/4, times the square of the difference.
  EXPECT_NEAR(softplus.value(Vector::Constant(1, 1e-9), zero) / (1e-18 / 8), 1, 1e-9);
}

TEST(SmoothedMaxAffine, IsTheKlDivergenceOfTheSoftmaxWeights) {
  Random random(2);
  const Pieces pieces = random_pieces(random, 1);
  const double temperature = 0.7;
  const SmoothedMaxAffine phi(pieces.slopes, pieces.offsets, temperature);
  const Matrix rows = normal_rows(random, 2, 3);
  Matrix q = ((rows * pieces.slopes.transpose()).rowwise() + pieces.offsets.transpose()).array() / temperature;
  q = q.array().exp();
  for (Index i = 0; i < 2; ++i) q.row(i) /= q.row(i).sum();
  const double kl = (q.row(1).array() * (q.row(1).array() / q.row(0).array()).log()).sum();
  EXPECT_NEAR(phi.value(rows.row(0), rows.row(1)), temperature * kl, 1e-13);
}

TEST(SmoothedMaxAffine, TendsToMaxAffine) {
  Random random(3);
  const Pieces pieces = random_pieces(random, 1);
  const MaxAffine hard(pieces.slopes, pieces.offsets);
  const Matrix x = normal_rows(random, 40, 3), y = normal_rows(random, 30, 3);
  for (const double temperature : {1e-1, 1e-4, 1e-8, 1e-12, 1e-300}) {
    const SmoothedMaxAffine soft(pieces.slopes, pieces.offsets, temperature);
    const Vector excess = soft.generator_values(x) - hard.generator_values(x);
    EXPECT_GE(excess.minCoeff(), -1e-13);
    EXPECT_LE(excess.maxCoeff(), temperature * std::log(12.0) + 1e-13);
    if (temperature > 1e-3) continue;  // gaps between the scores are far larger than these temperatures
    EXPECT_LE((soft.matrix(x, y) - hard.matrix(x, y)).cwiseAbs().maxCoeff(), 1e-12 + temperature * std::log(12.0));
    for (Index i = 0; i < 30; ++i) {
      EXPECT_NEAR(soft.value(x.row(i), y.row(i)), hard.value(x.row(i), y.row(i)), 1e-12 + temperature * std::log(12.0));
    }
  }
}

TEST(SmoothedMaxAffine, SurvivesLargeScoresAndTinyTemperatures) {
  Random random(4);
  const Pieces pieces = random_pieces(random, 1e6);
  const MaxAffine hard(pieces.slopes, pieces.offsets);
  const Matrix x = normal_rows(random, 20, 3), y = normal_rows(random, 20, 3);
  const Matrix expected = hard.matrix(x, y);
  for (const double temperature : {1e-300, 1e-12, 1e-3, 1.0}) {
    const SmoothedMaxAffine soft(pieces.slopes, pieces.offsets, temperature);
    const Matrix matrix = soft.matrix(x, y);
    EXPECT_TRUE(matrix.allFinite());
    EXPECT_GE(matrix.minCoeff(), 0);
    EXPECT_LE((matrix - expected).cwiseAbs().maxCoeff(), temperature * std::log(12.0) + 1e-7);
    for (Index i = 0; i < 20; ++i) {
      EXPECT_EQ(soft.value(x.row(i), x.row(i)), 0);
      const double value = soft.value(x.row(i), y.row(i));
      EXPECT_GE(value, 0);
      EXPECT_NEAR(value, expected(i, i), temperature * std::log(12.0) + 1e-7);
    }
  }
}

TEST(SmoothedMaxAffine, HasNoTies) {
  Matrix slopes(2, 1);
  slopes << -1, 1;
  const SmoothedMaxAffine phi(slopes, Vector::Zero(2), 0.5);
  const Vector origin = Vector::Zero(1), one = Vector::Ones(1);
  EXPECT_EQ(phi.gradients(origin)(0, 0), 0);
  EXPECT_NEAR(phi.value(one, origin), phi.value(-one, origin), 1e-16);
  EXPECT_NE(phi.value(origin, one), phi.value(origin, 2 * one));
}

TEST(SmoothedMaxAffine, RefusesBadTemperatures) {
  for (const double bad : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    EXPECT_THAT([&] { SmoothedMaxAffine(Matrix::Ones(1, 1), Vector::Ones(1), bad); },
                ::testing::ThrowsMessage<Error>(::testing::StartsWith(fmt::format("the temperature is {};", bad))));
  }
}

}  // namespace
}  // namespace bregmax
