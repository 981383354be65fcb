#include "methods/mlr_auc.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/symmetric.hpp"
#include "methods/cases.hpp"

namespace bregmax {
namespace {

using internal::RankingCut;
using internal::RankingQueries;

// The loss by its definition: all triples of a query, a relevant and an irrelevant row.
double slow_loss(const LabelledRows& data, const Matrix& metric) {
  double sum = 0;
  int queries = 0;
  const auto count = static_cast<std::size_t>(data.rows.rows());
  for (std::size_t q = 0; q < count; ++q) {
    double hinges = 0;
    int triples = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == q || data.classes[i] != data.classes[q]) continue;
      for (std::size_t j = 0; j < count; ++j) {
        if (data.classes[j] == data.classes[q]) continue;
        const double near = square_form(metric, data.rows, static_cast<Index>(q), static_cast<Index>(i));
        const double far = square_form(metric, data.rows, static_cast<Index>(q), static_cast<Index>(j));
        hinges += std::max(0.0, 1 - 2 * (far - near));
        ++triples;
      }
    }
    if (triples == 0) continue;
    sum += hinges / triples;
    ++queries;
  }
  return sum / queries;
}

Matrix random_metric(Random& random, Index features, double scale) {
  const Matrix factor = normal_matrix(random, features, features);
  return scale * internal::symmetrized(factor.transpose() * factor);
}

double cut_value(const RankingCut& cut, const Matrix& metric) {
  return cut.offset - metric.cwiseProduct(cut.slope).sum();
}

TEST(RankingCuts, AreTheLossAtTheirMetricAndBelowItElsewhere) {
  Random random(1);
  LabelledRows data = labelled_rows(24, 3, 3, 2);
  data.classes[23] = 9;  // alone in its class: no query, but a candidate
  const RankingQueries queries(data.rows, data.classes);
  for (const double scale : {0.0, 0.001, 0.01, 0.1, 1.0}) {
    const Matrix metric = random_metric(random, 3, scale), other = random_metric(random, 3, 0.05);
    const RankingCut cut = queries.most_violated(metric);
    EXPECT_NEAR(cut_value(cut, metric), slow_loss(data, metric), 1e-10);
    EXPECT_LE(cut_value(cut, other), slow_loss(data, other) + 1e-10);
  }
}

// Without the cuts that no longer matter the master problem has the same optimum.
TEST(CuttingPlaneMaster, DropsWhatDoesNotMatter) {
  const LabelledRows data = labelled_rows(60, 8, 3, 4);
  const RankingQueries queries(data.rows, data.classes);
  internal::CuttingPlaneMaster all(8, 100), few(8, 100);
  Matrix metric = Matrix::Zero(8, 8);
  double mu = 1;
  for (int k = 0; k < 60; ++k, mu *= 0.85) {
    const RankingCut cut = queries.most_violated(metric);
    all.add(cut);
    few.add(cut);
    ASSERT_TRUE(all.center(mu) && few.center(mu));
    EXPECT_NEAR(few.lower_bound(), all.lower_bound(), mu * all.barriers());
    metric = all.metric();
    few.drop_idle();
  }
  EXPECT_EQ(all.size(), 60);
  EXPECT_LE(few.size(), 55) << "53 were seen";
}

TEST(MlrAuc, ProvesItsOptimum) {
  Random random(3);
  const LabelledRows data = labelled_rows(30, 3, 3, 4);
  for (const double c : {0.1, 10.0, 1000.0}) {
    const Learned learned = learn("mlr-auc", data.rows, data.classes, {.parameters = {{"c", c}}, .tolerance = 1e-5});
    EXPECT_EQ(to_string(learned.report.status), "converged") << c;
    const Matrix& metric = metric_of(learned);
    const auto objective = [&](const Matrix& at) { return at.trace() + c * slow_loss(data, at); };
    EXPECT_NEAR(objective(metric), learned.report.objective, 1e-8 * c);
    const Matrix root = internal::spectral(metric, [](double value) { return std::sqrt(std::max(value, 0.0)); });
    for (int trial = 0; trial < 40; ++trial) {
      const double size = trial % 2 == 0 ? 1e-2 : 1e-1;
      const Matrix turn = Matrix::Identity(3, 3) + size * internal::symmetrized(normal_matrix(random, 3, 3));
      EXPECT_GE(objective(root * turn * turn * root), learned.report.objective - 1e-5 * c) << c;
    }
    EXPECT_GE(objective(Matrix::Zero(3, 3)), learned.report.objective);
  }
}

TEST(MlrAuc, WithLittleWeightOnTheLossNothingIsLearned) {
  const LabelledRows data = labelled_rows(30, 3, 3, 4);
  const Learned learned = learn("mlr-auc", data.rows, data.classes, {.parameters = {{"c", 1e-6}}});
  EXPECT_EQ(to_string(learned.report.status), "converged");
  EXPECT_NEAR(learned.report.objective, 1e-6, 1e-9);
}

}  // namespace
}  // namespace bregmax
