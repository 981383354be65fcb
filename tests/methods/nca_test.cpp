#include "bregmax/methods/nca.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "methods/labelled_rows.hpp"
#include "methods/linear_nca.hpp"
#include "methods/neighbour_softmax.hpp"
#include "methods/pair_kernels.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// The definition, pair by pair.
double expected_right(const Matrix& embedded, const ClassOfRow& classes) {
  double total = 0;
  for (Index i = 0; i < embedded.rows(); ++i) {
    Vector distances = (embedded.rowwise() - embedded.row(i)).rowwise().squaredNorm();
    distances(i) = std::numeric_limits<double>::infinity();
    const Vector chances = (distances.minCoeff() - distances.array()).exp();
    double right = 0;
    for (Index j = 0; j < embedded.rows(); ++j) {
      if (classes[static_cast<std::size_t>(j)] == classes[static_cast<std::size_t>(i)]) right += chances(j);
    }
    total += right / chances.sum();
  }
  return total;
}

// Small scales take the path of matrix products, large ones that of single pairs.
TEST(NeighbourSoftmax, HasTheValueOfTheDefinitionAndItsGradient) {
  for (const double scale : {0.05, 1.0, 8.0}) {
    const LabelledRows data = ordered(noisy_clouds(150, 3, 3, 1, 2));
    const Matrix embedded = scale * data.rows;
    internal::NeighbourSoftmax softmax(data.classes);
    Matrix gradient, unused;
    const double value = softmax.evaluate(embedded, gradient);
    EXPECT_NEAR(value, -expected_right(embedded, data.classes), 1e-10);
    for (Index k = 0; k < 10; ++k) {
      const Index row = 13 * k, column = k % 3;
      Matrix forward = embedded, backward = embedded;
      forward(row, column) += 1e-5;
      backward(row, column) -= 1e-5;
      const double difference = (softmax.evaluate(forward, unused) - softmax.evaluate(backward, unused)) / 2e-5;
      EXPECT_NEAR(gradient(row, column), difference, 1e-8 * (1 + gradient.cwiseAbs().maxCoeff())) << scale;
    }
  }
}

TEST(NeighbourSoftmax, IsTheSameForEveryNumberOfThreads) {
  const LabelledRows data = ordered(noisy_clouds(300, 5, 3, 1, 2));
  Matrix one, two;
  {
    const ThreadLimit limit(1);
    internal::NeighbourSoftmax(data.classes).evaluate(data.rows, one);
  }
  const ThreadLimit limit(2);
  internal::NeighbourSoftmax(data.classes).evaluate(data.rows, two);
  EXPECT_EQ(one, two);
}

TEST(LinearNca, GradientsAgreeWithDifferences) {
  for (const bool diagonal : {false, true}) {
    const LabelledRows data = ordered(noisy_clouds(40, 4, 2, 1, 5));
    internal::LinearNcaObjective objective({data.rows, data.classes, diagonal}, diagonal ? 4 : 3);
    const Vector at = 0.5 * random_matrix(diagonal ? 4 : 12, 1, 6);
    Vector gradient(at.size()), unused(at.size());
    objective.evaluate(at, gradient);
    for (Index k = 0; k < at.size(); ++k) {
      Vector forward = at, backward = at;
      forward(k) += 1e-5;
      backward(k) -= 1e-5;
      const double difference = (objective.evaluate(forward, unused) - objective.evaluate(backward, unused)) / 2e-5;
      EXPECT_NEAR(gradient(k), difference, 1e-7 * (1 + gradient.norm()));
    }
  }
}

TEST(Nca, NeverEndsBelowItsStartAndReportsItsOwnObjective) {
  EXPECT_TRUE(rc::check("any start, form and number of components", [] {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    const Index features = *rc::gen::inRange<Index>(1, 6);
    const bool diagonal = *rc::gen::arbitrary<bool>();
    LabelledRows data = noisy_clouds(*rc::gen::inRange<Index>(5, 80), features, 2, 1, seed);
    data.rows *= std::pow(10.0, *rc::gen::inRange(-3, 4));
    NcaOptions options;
    options.form = diagonal ? NcaForm::kDiagonal : NcaForm::kFull;
    options.components = diagonal ? 0 : static_cast<int>(*rc::gen::inRange<Index>(1, features + 1));
    const Index components = diagonal ? features : options.components;
    Matrix start = random_matrix(components, features, seed + 1);
    if (diagonal) start = Matrix(start.diagonal().asDiagonal());
    options.start = start;
    const NcaResult result = learn_nca(data.rows, data.classes, options);
    const Matrix embedded = data.rows * result.transform.transpose();
    const double found = expected_right(embedded, data.classes);
    // Chances that are nothing beside the nearest row's are not counted, even where all that are right are of them.
    const double dropped =
        std::pow(static_cast<double>(data.rows.rows()), 2) * std::exp(-internal::kNegligibleExponent);
    RC_ASSERT(std::abs(found + result.learned.report.objective) <= 1e-6 * found + dropped);
    RC_ASSERT(found >= expected_right(data.rows * start.transpose(), data.classes) * (1 - 1e-9) - dropped);
    if (diagonal) RC_ASSERT(result.transform.isDiagonal(0));
    const auto& metric = dynamic_cast<const Mahalanobis&>(*result.learned.divergence).metric();
    RC_ASSERT((metric - result.transform.transpose() * result.transform).norm() <= 1e-12 * metric.norm());
  }));
}

// Reference: scikit-learn's NeighborhoodComponentsAnalysis and metric-learn's NCA from the same start, the identity
// (the better of the two, see benchmarks/neighbours_comparison.py).
TEST(Nca, IsAsGoodAsTheReferenceImplementations) {
  const std::pair<const char*, double> references[] = {
      {"iris", 147.99999}, {"wine", 145.99999}, {"balance-scale", 604.99999}, {"ionosphere", 340.99999}};
  for (const auto& [name, reference] : references) {
    const Table table = load_builtin(name);
    const NcaResult result = learn_nca(table.features, table.labels->of_row);
    EXPECT_EQ(result.learned.report.status, Status::kConverged) << name;
    EXPECT_GE(-result.learned.report.objective, reference * (1 - 1e-3)) << name;
    EXPECT_LE(result.learned.report.stationarity, 1e-4) << name;
  }
}

TEST(Nca, FindsTheFeatureThatTells) {
  const LabelledRows data = noisy_clouds(90, 4, 3, 3, 1);
  for (const NcaForm form : {NcaForm::kFull, NcaForm::kDiagonal}) {
    NcaOptions options;
    options.form = form;
    const NcaResult result = learn_nca(data.rows, data.classes, options);
    const auto& metric = dynamic_cast<const Mahalanobis&>(*result.learned.divergence).metric();
    EXPECT_GT(metric(0, 0), 10 * metric.diagonal().tail(3).maxCoeff());
    EXPECT_GT(-result.learned.report.objective, 85);
  }
}

TEST(Nca, IgnoresWhereTheRowsDoNotDiffer) {
  LabelledRows data = noisy_clouds(60, 3, 2, 1, 1);
  const double without = learn_nca(data.rows, data.classes).learned.report.objective;
  Matrix extended(60, 5);
  extended << data.rows, Vector::Constant(60, 7), data.rows.col(1);
  const NcaResult result = learn_nca(extended, data.classes);
  EXPECT_EQ(result.learned.report.status, Status::kConverged);
  EXPECT_LE(result.learned.report.objective, without + 0.05 * 60);
  EXPECT_TRUE(result.transform.allFinite());
}

TEST(Nca, HonoursLimitsAndStops) {
  const LabelledRows data = noisy_clouds(90, 4, 3, 3, 1);
  NcaOptions options;
  options.limits.max_iterations = 2;
  EXPECT_EQ(learn_nca(data.rows, data.classes, options).learned.report.status, Status::kIterationLimit);
  EXPECT_LE(learn_nca(data.rows, data.classes, options).learned.report.iterations, 2);
  std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  EXPECT_EQ(learn_nca(data.rows, data.classes, {}, control).learned.report.status, Status::kStopped);
}

TEST(Nca, RefusesBadInput) {
  const LabelledRows data = noisy_clouds(30, 3, 3, 3, 1);
  const auto refused = [&](const NcaOptions& options, const char* message) {
    EXPECT_THAT([&] { learn_nca(data.rows, data.classes, options); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused({.components = 4}, "components is 4; allowed: 0 (as many as features) to 3");
  refused({.components = -1}, "components is -1");
  refused({.form = NcaForm::kDiagonal, .components = 2}, "components is 2; allowed in the diagonal form: 3");
  refused({.start = Matrix::Identity(2, 3)}, "start is 2 x 3; allowed: 3 x 3");
  refused({.start = Matrix::Zero(3, 3)}, "start is zero");
  refused({.form = NcaForm::kDiagonal, .start = Matrix::Ones(3, 3)}, "beside its diagonal");
  EXPECT_THAT([&] { learn_nca(data.rows, ClassOfRow(30, 0)); }, ThrowsMessage<Error>(HasSubstr("class")));
  EXPECT_THAT([&] { learn_nca(data.rows, ClassOfRow(29, 0)); }, ThrowsMessage<Error>(HasSubstr("29")));
}

}  // namespace
}  // namespace bregmax
