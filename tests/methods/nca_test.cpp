#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "core/symmetric.hpp"
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

// Small scales take the path of matrix products, large ones that of single pairs. All pairs of up to 1024 rows are kept
// at once; more rows take blocks.
void expect_definition(Index rows, const std::vector<double>& scales, Index entries, double tolerance) {
  for (const double scale : scales) {
    const LabelledRows data = ordered(noisy_clouds(rows, 3, 3, 1, 2));
    const Matrix embedded = scale * data.rows;
    internal::NeighbourSoftmax softmax(data.classes);
    Matrix gradient, unused;
    const double value = softmax.evaluate(embedded, gradient);
    EXPECT_NEAR(value, -expected_right(embedded, data.classes), 1e-10);
    for (Index k = 0; k < entries; ++k) {
      const Index row = (rows / entries - 2) * k, column = k % 3;
      Matrix forward = embedded, backward = embedded;
      forward(row, column) += 1e-5;
      backward(row, column) -= 1e-5;
      const double difference = (softmax.evaluate(forward, unused) - softmax.evaluate(backward, unused)) / 2e-5;
      EXPECT_NEAR(gradient(row, column), difference, tolerance * (1 + gradient.cwiseAbs().maxCoeff())) << scale;
    }
  }
}

TEST(NeighbourSoftmax, HasTheValueOfTheDefinitionAndItsGradient) { expect_definition(150, {0.05, 1, 8}, 10, 1e-8); }

TEST(NeighbourSoftmax, HasThemInBlocksOfRowsToo) { expect_definition(1100, {0.05, 8}, 3, 1e-7); }

// So many rows that the loops take threads, at once and in blocks.
TEST(NeighbourSoftmax, IsTheSameForEveryNumberOfThreads) {
  for (const Index rows : {1000, 1100}) {
    for (const double scale : {0.05, 8.0}) {
      const LabelledRows data = ordered(noisy_clouds(rows, 7, 3, 1, 2));
      const auto gradient = [&](int threads) {
        const ThreadLimit limit(threads);
        Matrix found;
        internal::NeighbourSoftmax(data.classes).evaluate(scale * data.rows, found);
        return found;
      };
      EXPECT_EQ(gradient(1), gradient(2)) << rows << " rows, scale " << scale;
    }
  }
}

TEST(LinearNca, GradientsAgreeWithDifferences) {
  for (const bool diagonal : {false, true}) {
    const LabelledRows data = ordered(noisy_clouds(40, 4, 2, 1, 5));
    const internal::LinearNcaProblem problem{data.rows, data.classes, diagonal};
    internal::LinearNcaObjective objective(problem, diagonal ? 4 : 3);
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

// Chances that are negligible relative to the nearest row's are not counted, even where all right ones are of them.
double negligible(const LabelledRows& data) {
  return std::pow(static_cast<double>(data.rows.rows()), 2) * std::exp(-internal::kNegligibleExponent);
}

TEST(LinearNca, NeverEndsBelowItsStartAndReportsItsOwnObjective) {
  EXPECT_TRUE(rc::check("any start, form and number of components", [] {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    const Index features = *rc::gen::inRange<Index>(1, 6);
    const bool diagonal = *rc::gen::arbitrary<bool>();
    LabelledRows data = ordered(noisy_clouds(*rc::gen::inRange<Index>(5, 80), features, 2, 1, seed));
    data.rows *= std::pow(10.0, *rc::gen::inRange(-3, 4));
    const Index components = diagonal ? features : *rc::gen::inRange<Index>(1, features + 1);
    Matrix start = random_matrix(components, features, seed + 1);
    if (diagonal) start = Matrix(start.diagonal().asDiagonal());
    const MethodLimits limits{1e-4, 500, 0};
    const RunControl control;
    const auto [transform, report] = internal::solve_linear_nca({data.rows, data.classes, diagonal}, start, limits,
                                                                internal::IterationWatch(limits, control));
    const double found = expected_right(data.rows * transform.transpose(), data.classes);
    RC_ASSERT(std::abs(found + report.objective) <= 1e-6 * found + negligible(data));
    RC_ASSERT(found >= expected_right(data.rows * start.transpose(), data.classes) * (1 - 1e-9) - negligible(data));
    if (diagonal) RC_ASSERT(transform.isDiagonal(0));
  }));
}

TEST(Nca, ReportsTheObjectiveOfItsMetric) {
  EXPECT_TRUE(rc::check("any form and number of components", [] {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    const Index features = *rc::gen::inRange<Index>(1, 6);
    const bool diagonal = *rc::gen::arbitrary<bool>();
    LabelledRows data = noisy_clouds(*rc::gen::inRange<Index>(5, 80), features, 2, 1, seed);
    data.rows *= std::pow(10.0, *rc::gen::inRange(-3, 4));
    const double components = diagonal ? 0 : static_cast<double>(*rc::gen::inRange<Index>(1, features + 1));
    const Learned learned =
        learn("nca", data.rows, data.classes, {.parameters = {{"form", diagonal ? 1 : 0}, {"components", components}}});
    const Matrix root =
        internal::spectral(metric_of(learned), [](double value) { return std::sqrt(std::max(value, 0.0)); });
    const double found = expected_right(data.rows * root, data.classes);
    RC_ASSERT(std::abs(found + learned.report.objective) <= 1e-5 * found + negligible(data));
    if (diagonal) RC_ASSERT(metric_of(learned).isDiagonal(0));
  }));
}

// Reference: scikit-learn's NeighborhoodComponentsAnalysis and metric-learn's NCA from the same start, the identity
// (the better of the two, see benchmarks/neighbours_comparison.py).
TEST(Nca, IsAsGoodAsTheReferenceImplementations) {
  const std::pair<const char*, double> references[] = {
      {"iris", 147.99999}, {"wine", 145.99999}, {"balance-scale", 604.99999}, {"ionosphere", 340.99999}};
  for (const auto& [name, reference] : references) {
    const Table table = load_builtin(name);
    const MethodReport report = learn("nca", table.features, table.labels->of_row).report;
    EXPECT_EQ(report.status, Status::kConverged) << name;
    EXPECT_GE(-report.objective, reference * (1 - 1e-3)) << name;
    EXPECT_LE(report.stationarity, 1e-4) << name;
  }
}

TEST(Nca, FindsTheFeatureThatTells) {
  const LabelledRows data = noisy_clouds(90, 4, 3, 3, 1);
  for (const double form : {0, 1}) {  // full, diagonal
    const Learned learned = learn("nca", data.rows, data.classes, {.parameters = {{"form", form}}});
    const Matrix& metric = metric_of(learned);
    EXPECT_GT(metric(0, 0), 10 * metric.diagonal().tail(3).maxCoeff());
    EXPECT_GT(-learned.report.objective, 85);
  }
}

TEST(Nca, IgnoresWhereTheRowsDoNotDiffer) {
  LabelledRows data = noisy_clouds(60, 3, 2, 1, 1);
  const double without = learn("nca", data.rows, data.classes).report.objective;
  Matrix extended(60, 5);
  extended << data.rows, Vector::Constant(60, 7), data.rows.col(1);
  const Learned learned = learn("nca", extended, data.classes);
  EXPECT_EQ(learned.report.status, Status::kConverged);
  EXPECT_LE(learned.report.objective, without + 0.05 * 60);
  EXPECT_TRUE(metric_of(learned).allFinite());
}

TEST(Nca, HonoursLimitsAndStops) { expect_limits_and_stops("nca"); }

TEST(Nca, RefusesBadInput) {
  const LabelledRows data = noisy_clouds(30, 3, 3, 3, 1);
  expect_refused("nca", data, {{"components", 4}}, "components is 4; allowed: 0 (as many as features) to 3");
  expect_refused("nca", data, {{"components", -1}}, "components is -1; allowed: a whole number from 0 to 100000");
  expect_refused("nca", data, {{"form", 1}, {"components", 2}}, "components is 2; allowed in the diagonal form: 3");
  EXPECT_THAT([&] { learn("nca", data.rows, ClassOfRow(30, 0)); }, ThrowsMessage<Error>(HasSubstr("class")));
  EXPECT_THAT([&] { learn("nca", data.rows, ClassOfRow(29, 0)); }, ThrowsMessage<Error>(HasSubstr("29")));
}

}  // namespace
}  // namespace bregmax
