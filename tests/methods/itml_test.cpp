#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/supervision/sample.hpp"
#include "core/symmetric.hpp"
#include "methods/cases.hpp"
#include "methods/itml_newton.hpp"

namespace bregmax {
namespace {

// The objective of the paper for the identity as the prior, with the best slacks.
double objective(const Matrix& rows, const Pairs& pairs, const Matrix& metric, const MethodSettings& settings) {
  const double gamma = settings.parameters.at("gamma"), upper = settings.parameters.at("upper"),
               lower = settings.parameters.at("lower");
  double sum = metric.trace() - std::log(metric.determinant()) - static_cast<double>(metric.rows());
  for (const Pair& pair : pairs) {
    const double divergence = square_form(metric, rows, pair.i, pair.j);
    const double slack = pair.similar ? std::max(divergence, upper) : std::min(divergence, lower);
    const double ratio = slack / (pair.similar ? upper : lower);
    sum += gamma * pair.weight * (ratio - std::log(ratio) - 1);
  }
  return sum;
}

TEST(Itml, NoOtherMatrixNearbyIsBetter) {
  Random random(1);
  for (const double gamma : {0.01, 1.0, 100.0}) {
    const LabelledRows data = labelled_rows(40, 4, 3, 2);
    const Pairs pairs = sample_pairs(data.classes, 200, 3);
    const MethodSettings settings{
        .parameters = {{"gamma", gamma}, {"upper", 2}, {"lower", 20}}, .tolerance = 1e-9, .max_iterations = 100000};
    const Learned learned = learn("itml", data.rows, pairs, settings);
    EXPECT_EQ(to_string(learned.report.status), "converged");
    const double best = objective(data.rows, pairs, metric_of(learned), settings);
    EXPECT_NEAR(best, learned.report.objective, 1e-9 * best);
    const Matrix root = internal::spectral(metric_of(learned), [](double value) { return std::sqrt(value); });
    for (int trial = 0; trial < 50; ++trial) {
      const double size = trial % 2 == 0 ? 1e-2 : 1e-1;
      const Matrix turn = Matrix::Identity(4, 4) + size * internal::symmetrized(normal_matrix(random, 4, 4));
      EXPECT_GE(objective(data.rows, pairs, root * turn * turn * root, settings), best * (1 - 2e-9)) << gamma;
    }
  }
}

// Of what Newton's method minimises, in A = L (I + X) L^T.
TEST(ItmlNewton, SlopeAgreesWithDifferences) {
  Random random(2);
  for (const double gap : {10.0, 0.1}) {
    const Matrix root = normal_matrix(random, 3, 3), identity = Matrix::Identity(3, 3);
    const Matrix prior = identity + 0.2 * root.transpose() * root, metric = identity + root * root.transpose();
    const internal::ItmlConstraints constraints{
        normal_matrix(random, 40, 3),
        Vector::LinSpaced(40, 0, 39).unaryExpr([](double t) { return t < 20 ? 1.0 : -1.0; }), Vector::Constant(40, 3.0),
        Vector::Constant(40, 0.8)};
    const Matrix lower = internal::PositiveDefinite(metric).lower();
    const auto stage_objective = [&](const Matrix& move) {
      const Matrix moved = internal::symmetrized(lower * (identity + move) * lower.transpose());
      return internal::ItmlNewton(constraints, prior, moved, gap).stage_objective();
    };
    const Matrix slope = internal::ItmlNewton(constraints, prior, metric, gap).stage_slope();
    for (int trial = 0; trial < 10; ++trial) {
      const Matrix direction = internal::symmetrized(normal_matrix(random, 3, 3));
      const double difference = (stage_objective(1e-5 * direction) - stage_objective(-1e-5 * direction)) / 2e-5;
      EXPECT_NEAR(slope.cwiseProduct(direction).sum(), difference, 1e-6 * (1 + slope.norm()));
    }
  }
}

// With one feature and one pair the optimum is the smallest value on a fine grid.
TEST(Itml, IsTheOptimumOfOneFeatureAndOnePair) {
  Matrix rows(2, 1);
  rows << 0, 3;
  for (const bool similar : {true, false}) {
    const Pairs pairs = {{0, 1, similar}};
    const MethodSettings settings{.parameters = {{"gamma", 2}, {"upper", 1.5}, {"lower", 40}}, .tolerance = 1e-12};
    const Learned learned = learn("itml", rows, pairs, settings);
    double best = 1e300;
    for (double a = 1e-3; a < 20; a *= 1.0001) {
      best = std::min(best, objective(rows, pairs, Matrix::Constant(1, 1, a), settings));
    }
    EXPECT_NEAR(learned.report.objective, best, 1e-7 * best);
    EXPECT_LE(learned.report.objective, best * (1 + 1e-12));
  }
}

TEST(Itml, AWeightIsThatManyPairs) {
  const LabelledRows data = labelled_rows(20, 3, 2, 5);
  Pairs weighted = sample_pairs(data.classes, 30, 1), repeated = weighted;
  weighted[3].weight = 3;
  repeated.insert(repeated.end(), 2, weighted[3]);
  repeated[30].weight = repeated[31].weight = 1;
  const MethodSettings settings{.tolerance = 1e-10, .max_iterations = 100000};
  EXPECT_NEAR(learn("itml", data.rows, weighted, settings).report.objective,
              learn("itml", data.rows, repeated, settings).report.objective, 1e-8);
}

TEST(Itml, WithoutPairsThatSayAnythingItIsThePrior) {
  Matrix rows(3, 2);
  rows << 1, 2, 1, 2, 5, 7;
  const Learned learned = learn("itml", rows, Pairs{{0, 1, false}, {0, 1, true}, {0, 2, true, 0}});
  EXPECT_EQ(to_string(learned.report.status), "converged");
  EXPECT_EQ(metric_of(learned), Matrix::Identity(2, 2));
}

// Whitening makes the inverse covariance the identity: the same problem in other coordinates.
TEST(Itml, TheInverseCovarianceAsThePriorIgnoresUnits) {
  Random random(4);
  const LabelledRows data = labelled_rows(40, 3, 2, 6);
  Matrix change = normal_matrix(random, 3, 3);
  const Pairs pairs = sample_pairs(data.classes, 100, 3);
  const MethodSettings settings{.parameters = {{"prior", 1}}, .tolerance = 1e-9, .max_iterations = 100000};
  const double plain = learn("itml", data.rows, pairs, settings).report.objective;
  const double other = learn("itml", data.rows * change, pairs, settings).report.objective;
  EXPECT_NEAR(plain, other, 1e-5 * plain);
}

TEST(Itml, RefusesBadOptions) {
  const LabelledRows data = labelled_rows(10, 2, 2, 5);
  expect_refused("itml", data, {{"gamma", 0}}, "gamma is 0; allowed: a number > 0");
  expect_refused("itml", data, {{"upper", -1}}, "upper is -1; allowed: a number >= 0");
  expect_refused("itml", data, {{"lower-percentile", 101}}, "lower-percentile is 101; allowed: a number from 0 to 100");
  EXPECT_THAT([&] { learn("itml", data.rows, Pairs{}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("the supervision has no pairs")));
}

// Neither a large price nor features of very different units make it slow: the projections alone take thousands of
// sweeps, Newton's method some dozens of steps.
TEST(Itml, ConvergesInFewIterationsWhateverGammaAndUnitsAre) {
  LabelledRows data = labelled_rows(90, 6, 3, 4);
  for (Index f = 0; f < 6; ++f) data.rows.col(f) *= std::pow(10.0, static_cast<double>(f) - 3);
  const Pairs pairs = sample_pairs(data.classes, 180, 3);
  for (const double gamma : {1.0, 100.0, 10000.0}) {
    const Learned learned = learn("itml", data.rows, pairs, {.parameters = {{"gamma", gamma}}});
    EXPECT_EQ(to_string(learned.report.status), "converged") << gamma;
    EXPECT_LE(learned.report.iterations, 250) << gamma;
  }
}

}  // namespace
}  // namespace bregmax
