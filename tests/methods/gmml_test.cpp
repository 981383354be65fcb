#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/supervision/sample.hpp"
#include "core/symmetric.hpp"
#include "methods/cases.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

MethodSettings without_prior(double t) { return {.parameters = {{"t", t}, {"lambda", 0}}}; }

Matrix scatter(const Matrix& rows, const Pairs& pairs, bool similar) {
  Matrix sum = Matrix::Zero(rows.cols(), rows.cols());
  for (const Pair& pair : pairs) {
    const Vector difference = rows.row(pair.i) - rows.row(pair.j);
    if (pair.similar == similar) sum += pair.weight * difference * difference.transpose();
  }
  return sum;
}

TEST(Gmml, TheMiddleSolvesTheRiccatiEquation) {
  const LabelledRows data = labelled_rows(40, 5, 3, 1);
  Pairs pairs = sample_pairs(data.classes, 300, 2);
  pairs[7].weight = 2.5;
  const Learned learned = learn("gmml", data.rows, pairs, without_prior(0.5));
  const Matrix similar = scatter(data.rows, pairs, true), dissimilar = scatter(data.rows, pairs, false);
  const Matrix& metric = metric_of(learned);
  EXPECT_LE((metric * similar * metric - dissimilar).norm(), 1e-9 * dissimilar.norm());
  EXPECT_LE(learned.report.stationarity, 1e-10);
}

TEST(Gmml, TheEndsAreTheInverseSimilarAndTheDissimilarScatter) {
  const LabelledRows data = labelled_rows(40, 3, 3, 1);
  const Pairs pairs = sample_pairs(data.classes, 300, 2);
  const Matrix inverse = scatter(data.rows, pairs, true).inverse(), dissimilar = scatter(data.rows, pairs, false);
  EXPECT_LE((metric_of(learn("gmml", data.rows, pairs, without_prior(0))) - inverse).norm(), 1e-9 * inverse.norm());
  EXPECT_LE((metric_of(learn("gmml", data.rows, pairs, without_prior(1))) - dissimilar).norm(),
            1e-9 * dissimilar.norm());
}

// The weighted mean minimises the weighted squared Riemannian distances: no matrix nearby is better.
TEST(Gmml, MinimisesItsObjective) {
  Random random(3);
  const LabelledRows data = labelled_rows(40, 3, 2, 4);
  const Pairs pairs = sample_pairs(data.classes, 200, 5);
  const Matrix from = scatter(data.rows, pairs, true).inverse(), to = scatter(data.rows, pairs, false);
  const auto distance = [](const Matrix& a, const Matrix& b) {
    const Matrix root = internal::spectral(a, [](double value) { return 1 / std::sqrt(value); });
    return internal::symmetric_eigenvalues(root * b * root).array().log().square().sum();
  };
  for (const double t : {0.2, 0.5, 0.9}) {
    const auto objective = [&](const Matrix& metric) {
      return (1 - t) * distance(metric, from) + t * distance(metric, to);
    };
    const Learned learned = learn("gmml", data.rows, pairs, without_prior(t));
    EXPECT_NEAR(objective(metric_of(learned)), learned.report.objective, 1e-7 * learned.report.objective);
    const Matrix root = internal::spectral(metric_of(learned), [](double value) { return std::sqrt(value); });
    for (int trial = 0; trial < 20; ++trial) {
      const Matrix move = 0.05 * normal_matrix(random, 3, 3);
      const Matrix turn = Matrix::Identity(3, 3) + move + move.transpose();
      EXPECT_GE(objective(root * turn * root), learned.report.objective * (1 - 1e-9));
      // The gradient, of which it reports the norm, is 0 by differences, too.
      const Matrix small = 1e-5 * (turn - Matrix::Identity(3, 3)), identity = Matrix::Identity(3, 3);
      const double difference =
          objective(root * (identity + small) * root) - objective(root * (identity - small) * root);
      EXPECT_NEAR(difference / (2 * small.norm()), 0, 1e-6 * learned.report.objective);
    }
    EXPECT_LE(learned.report.stationarity, 1e-9);
  }
}

TEST(Gmml, LabelsAreAllPairs) {
  const LabelledRows data = labelled_rows(31, 4, 3, 6);
  const Matrix labels = metric_of(learn("gmml", data.rows, data.classes));
  const Matrix pairs = metric_of(learn("gmml", data.rows, all_pairs(data.classes)));
  EXPECT_LE((labels - pairs).norm(), 1e-9 * pairs.norm());  // a factor of two in both scatters does not matter at 1/2
}

TEST(Gmml, RefusesWhatHasNoMean) {
  const LabelledRows data = labelled_rows(10, 3, 2, 7);
  EXPECT_THAT(
      [&] {
        learn("gmml", data.rows, Pairs{{0, 1, true}});
      },
      ThrowsMessage<Error>(HasSubstr("no dissimilar pair")));
  EXPECT_THAT(
      [&] {
        learn("gmml", data.rows, Pairs{{0, 1, true}, {0, 2, false}}, without_prior(0.5));
      },
      ThrowsMessage<Error>(HasSubstr("do not span all features")));
  EXPECT_THAT([&] { learn("gmml", data.rows, data.classes, without_prior(1.5)); },
              ThrowsMessage<Error>(HasSubstr("t is 1.5")));
}

}  // namespace
}  // namespace bregmax
