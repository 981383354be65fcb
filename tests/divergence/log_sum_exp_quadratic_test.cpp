#include "bregmax/divergence/log_sum_exp_quadratic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "sanitized.hpp"

namespace bregmax {
namespace {

Matrix random_matrix(Random& random, Index rows, Index cols) {
  Matrix out(rows, cols);
  for (double& value : out.reshaped()) value = random.normal();
  return out;
}

TEST(LogSumExpQuadratic, MatchesNumbersWorkedOutByHand) {
  // phi(x) = 4 x^2 + log(1 + e^x), g = 8 x + 1 / (1 + e^-x); D(1, 0) = 4 + log(1 + e) - log 2 - 1/2.
  Matrix slopes(2, 1);
  slopes << 0, 1;
  const LogSumExpQuadratic phi(slopes, Vector::Zero(2), 1, Matrix::Constant(1, 1, 2));
  const Vector one = Vector::Ones(1), zero = Vector::Zero(1);
  const double softplus = std::log1p(std::exp(1.0)), logistic = 1 / (1 + std::exp(-1.0));
  EXPECT_NEAR(phi.generator_values(one)(0), 4 + softplus, 1e-15);
  EXPECT_NEAR(phi.gradients(one)(0, 0), 8 + logistic, 1e-14);
  EXPECT_NEAR(phi.value(one, zero), 4 + softplus - std::log(2.0) - 0.5, 1e-14);
  EXPECT_NEAR(phi.value(Vector::Constant(1, 1e-9), zero) / (4.125e-18), 1, 1e-9) << "close rows keep their digits";
}

TEST(LogSumExpQuadratic, WithOnePieceItIsMahalanobis) {
  Random random(1);
  for (const Index rank : {1, 3, 5}) {
    const Matrix roots = random_matrix(random, rank, 3), slopes = random_matrix(random, 1, 3);
    const LogSumExpQuadratic phi(slopes, Vector::Constant(1, 0.3), 0.7, roots);
    const Mahalanobis mahalanobis(roots.transpose() * roots);
    const Matrix x = random_matrix(random, 9, 3), y = random_matrix(random, 7, 3);
    const Matrix expected = mahalanobis.matrix(x, y);
    EXPECT_LE((phi.matrix(x, y) - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.maxCoeff());
    for (Index i = 0; i < 7; ++i) {
      const double value = mahalanobis.value(x.row(i), y.row(i));
      EXPECT_NEAR(phi.value(x.row(i), y.row(i)), value, 1e-13 * (1 + value));
    }
  }
}

TEST(LogSumExpQuadratic, WithoutRootsItIsSmoothedMaxAffine) {
  Random random(2);
  const Matrix slopes = random_matrix(random, 12, 3), x = random_matrix(random, 9, 3), y = random_matrix(random, 7, 3);
  const Vector offsets = random_matrix(random, 12, 1);
  const LogSumExpQuadratic none(slopes, offsets, 0.3, Matrix(0, 3)), zeros(slopes, offsets, 0.3, Matrix::Zero(2, 3));
  const SmoothedMaxAffine pieces(slopes, offsets, 0.3);
  for (const LogSumExpQuadratic* phi : {&none, &zeros}) {
    EXPECT_EQ(phi->generator_values(x), pieces.generator_values(x));
    EXPECT_EQ(phi->gradients(y), pieces.gradients(y));
    EXPECT_EQ(phi->matrix(x, y), pieces.matrix(x, y));
    EXPECT_EQ(phi->value(x.row(0), y.row(0)), pieces.value(x.row(0), y.row(0)));
  }
}

TEST(LogSumExpQuadratic, FeatureNormsCountWhatReadsAFeature) {
  // Slopes less their mean: (-1, 0, 0) and (1, 0, 0); the second feature is read by G only, the third by nothing.
  Matrix slopes(2, 3), roots(2, 3);
  slopes << 4, 7, 5, 6, 7, 5;
  roots << 1, 3, 0, 1, -4, 0;
  const LogSumExpQuadratic phi(slopes, Vector::Zero(2), 1, roots);
  EXPECT_NEAR(phi.feature_norms()(0), 2, 1e-15);
  EXPECT_NEAR(phi.feature_norms()(1), 5, 1e-15);
  EXPECT_EQ(phi.feature_norms()(2), 0);
  const LogSumExpQuadratic without(slopes, Vector::Zero(2), 1, Matrix(0, 3));
  EXPECT_NEAR(without.feature_norms()(0), std::sqrt(2.0), 1e-15);
  Random random(3);
  const Matrix x = random_matrix(random, 5, 3), y = random_matrix(random, 5, 3);
  Matrix moved = x;
  moved.col(2).array() += 3;
  EXPECT_LE((phi.matrix(moved, y) - phi.matrix(x, y)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(LogSumExpQuadratic, ConvexityAndSmoothnessBoundTheDivergence) {
  Random random(4);
  for (int round = 0; round < test::repeats(50); ++round) {
    const Index rank = round % 5;
    const double temperature = 0.1 + random.uniform();
    const LogSumExpQuadratic phi(random_matrix(random, 6, 3), random_matrix(random, 6, 1), temperature,
                                 random_matrix(random, rank, 3));
    const double mu = phi.strong_convexity(), smoothness = phi.smoothness();
    EXPECT_EQ(mu > 0, rank >= 3);
    for (int pair = 0; pair < 20; ++pair) {
      const Vector x = random_matrix(random, 3, 1), y = x + std::exp(random.normal()) * random_matrix(random, 3, 1);
      const double half = (x - y).squaredNorm() / 2, value = phi.value(x, y);
      EXPECT_GE(value, mu * half * (1 - 1e-12));
      EXPECT_LE(value, smoothness * half * (1 + 1e-12));
    }
  }
}

TEST(LogSumExpQuadratic, TheConstantsAreReached) {
  // Two opposite pieces along the first feature: the Hessian there is 2 + 9 at the border between them.
  Matrix slopes(2, 2), roots(2, 2);
  slopes << -3, 0, 3, 0;
  roots << 1, 0, 0, 1;
  const LogSumExpQuadratic phi(slopes, Vector::Zero(2), 1, roots);
  EXPECT_NEAR(phi.strong_convexity(), 2, 1e-14);
  EXPECT_NEAR(phi.smoothness(), 11, 1e-13);
  const double step = 1e-4;
  const Vector zero = Vector::Zero(2);
  EXPECT_NEAR(phi.value(step * Vector::Unit(2, 0), zero) / (step * step / 2), 11, 1e-4);
  EXPECT_NEAR(phi.value(step * Vector::Unit(2, 1), zero) / (step * step / 2), 2, 1e-10);
}

TEST(LogSumExpQuadratic, RefusesParametersThatDoNotFit) {
  const auto refused = [](const Matrix& slopes, Index offsets, double temperature, const Matrix& roots,
                          const char* message) {
    EXPECT_THAT([&] { LogSumExpQuadratic(slopes, Vector::Zero(offsets), temperature, roots); },
                ::testing::ThrowsMessage<Error>(::testing::StartsWith(message)));
  };
  const Matrix slopes = Matrix::Ones(2, 3), roots = Matrix::Identity(3, 3);
  refused(slopes, 2, 1, Matrix::Ones(3, 2),
          "the matrix of the quadratic part has 2 columns; allowed: 3, the number of features");
  refused(slopes, 2, 1, Matrix(), "the matrix of the quadratic part has 0 columns; allowed: 3, the number of features");
  Matrix bad = roots;
  bad(1, 2) = NAN;
  refused(slopes, 2, 1, bad, "the matrix of the quadratic part(1, 2) is nan; allowed: finite numbers");
  refused(slopes, 3, 1, roots, "there are 3 offsets for 2 pieces");
  refused(slopes, 2, 0, roots, "the temperature is 0;");
  refused(Matrix(0, 3), 0, 1, roots, "slopes is 0 x 3;");
}

}  // namespace
}  // namespace bregmax
