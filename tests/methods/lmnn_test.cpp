#include "methods/lmnn.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "methods/labelled_rows.hpp"
#include "methods/large_margin.hpp"

namespace bregmax {
namespace {

using internal::LmnnResult;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The objective, triplet by triplet, with targets found by sorting.
double definition(const LabelledRows& data, const Matrix& embedded, int neighbours, double mu) {
  double total = 0;
  for (Index i = 0; i < embedded.rows(); ++i) {
    std::vector<std::pair<double, Index>> same;
    for (Index j = 0; j < embedded.rows(); ++j) {
      if (j != i && data.classes[static_cast<std::size_t>(j)] == data.classes[static_cast<std::size_t>(i)]) {
        same.emplace_back((data.rows.row(i) - data.rows.row(j)).squaredNorm(), j);
      }
    }
    std::sort(same.begin(), same.end());
    same.resize(std::min(same.size(), static_cast<std::size_t>(neighbours)));
    for (const auto& [unused, j] : same) {
      const double target = (embedded.row(i) - embedded.row(j)).squaredNorm();
      total += (1 - mu) * target;
      for (Index l = 0; l < embedded.rows(); ++l) {
        if (data.classes[static_cast<std::size_t>(l)] == data.classes[static_cast<std::size_t>(i)]) continue;
        total += mu * std::max(0.0, 1 + target - (embedded.row(i) - embedded.row(l)).squaredNorm());
      }
    }
  }
  return total;
}

TEST(LargeMarginLoss, HasTheValueOfTheDefinition) {
  EXPECT_TRUE(rc::check("any embedding", [] {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    const auto neighbours = *rc::gen::inRange(1, 5);
    const LabelledRows data = ordered(noisy_clouds(*rc::gen::inRange<Index>(4, 160), 3, 3, 1, seed));
    const Matrix embedded = data.rows * random_matrix(3, 5, seed);
    internal::LargeMarginLoss loss(data.classes, internal::nearest_of_class(data.rows, data.classes, neighbours), 0.3);
    Matrix gradient;
    const double found = loss.evaluate(embedded, loss.find_impostors(embedded, 0), 0, {}, gradient);
    const double wider = loss.evaluate(embedded, loss.find_impostors(embedded, 2), 0, {}, gradient);
    const double expected = definition(data, embedded, neighbours, 0.3);
    RC_ASSERT(std::abs(found - expected) <= 1e-10 * (1 + expected));
    RC_ASSERT(std::abs(wider - expected) <= 1e-10 * (1 + expected));
  }));
}

// Smoothed, as lmnn minimises it, and with the hinges themselves, to which the trees of gb-lmnn are fitted.
TEST(LargeMarginLoss, GradientsAgreeWithDifferences) {
  const LabelledRows data = ordered(noisy_clouds(70, 3, 3, 1, 4));
  internal::LargeMarginLoss loss(data.classes, internal::nearest_of_class(data.rows, data.classes, 3), 0.4);
  const internal::ImpostorSet set = loss.find_impostors(data.rows, 1);
  Random random(1);
  std::vector<double> earlier(static_cast<std::size_t>(set.triplets()));
  for (double& a : earlier) a = random.uniform();
  for (const double width : {0.7, 0.0}) {
    const auto value = [&](const Matrix& embedded, Matrix& gradient) {
      return loss.evaluate(embedded, set, width, width > 0 ? earlier : std::vector<double>{}, gradient);
    };
    Matrix gradient, unused;
    value(data.rows, gradient);
    for (Index k = 0; k < 30; ++k) {
      const Index row = 2 * k, column = k % 3;
      Matrix forward = data.rows, backward = data.rows;
      forward(row, column) += 1e-6;
      backward(row, column) -= 1e-6;
      const double difference = (value(forward, unused) - value(backward, unused)) / 2e-6;
      EXPECT_NEAR(gradient(row, column), difference, 1e-6 * (1 + gradient.cwiseAbs().maxCoeff())) << width;
    }
  }
}

// So many rows and impostors that the loops take threads.
TEST(LargeMarginLoss, IsTheSameForEveryNumberOfThreads) {
  const LabelledRows data = ordered(noisy_clouds(1000, 8, 3, 1, 4));
  const auto gradient = [&](int threads) {
    const ThreadLimit limit(threads);
    internal::LargeMarginLoss loss(data.classes, internal::nearest_of_class(data.rows, data.classes, 3), 0.4);
    const internal::ImpostorSet all = loss.find_impostors(data.rows, 1e9);
    EXPECT_EQ(all.size(), 2 * 333 * 333 + 4 * 333 * 334);
    Matrix found;
    loss.evaluate(data.rows, all, 0.7, {}, found);
    return found;
  };
  EXPECT_EQ(gradient(1), gradient(2));
}

// In d(x, y) = (x - y)^T M (x - y), along a random symmetric direction from M = I, without smoothing.
TEST(LargeMarginLoss, DerivativesByTheMetricAgreeWithDifferences) {
  const LabelledRows data = ordered(noisy_clouds(50, 3, 2, 1, 8));
  internal::LargeMarginLoss loss(data.classes, internal::nearest_of_class(data.rows, data.classes, 2), 0.5);
  const auto value = [&](const Eigen::MatrixXd& metric) {
    const Matrix embedded = data.rows * Eigen::LLT<Eigen::MatrixXd>(metric).matrixL().toDenseMatrix();
    Matrix unused;
    return loss.evaluate(embedded, loss.find_impostors(embedded, 0), 0, {}, unused);
  };
  const internal::ImpostorSet set = loss.find_impostors(data.rows, 0);
  std::vector<double> multipliers;
  Matrix unused;
  loss.evaluate(data.rows, set, 0, {}, unused, &multipliers);
  const Eigen::MatrixXd gradient = loss.metric_gradient(data.rows, set, multipliers);
  const Eigen::MatrixXd root = random_matrix(3, 3, 2);
  const Eigen::MatrixXd direction = root + root.transpose(), identity = Eigen::MatrixXd::Identity(3, 3);
  const double difference = (value(identity + 1e-7 * direction) - value(identity - 1e-7 * direction)) / 2e-7;
  EXPECT_NEAR((gradient * direction).trace(), difference, 1e-6 * (1 + std::abs(difference)));
}

// The lower bound holds for any matrix: it is tried against the objective of others.
void expect_optimal(const LabelledRows& data, const std::map<std::string, double>& parameters,
                    double tolerance = 1e-3) {
  MethodChoices choices = choices_of("lmnn", parameters);
  choices.limits.tolerance = tolerance;
  const LmnnResult result = internal::learn_lmnn(data.rows, data.classes, choices, {});
  const MethodReport& report = result.learned.report;
  EXPECT_EQ(report.status, Status::kConverged);
  const auto objective = [&](const Matrix& transform) {
    return definition(data, data.rows * transform.transpose(), choices.whole("neighbours"), choices.number("push"));
  };
  EXPECT_NEAR(objective(result.transform), report.objective, 1e-8 * report.objective);
  EXPECT_LE(report.objective, objective(Matrix::Identity(data.rows.cols(), data.rows.cols())) * (1 + 1e-12));
  EXPECT_NEAR(report.stationarity, (report.objective - result.lower_bound) / report.objective, 1e-12);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Matrix other =
        result.transform + 0.02 * result.transform.norm() * random_matrix(data.rows.cols(), data.rows.cols(), seed);
    EXPECT_GE(objective(other), result.lower_bound);
  }
  const Matrix& metric = metric_of(result.learned);
  EXPECT_LT((metric - result.transform.transpose() * result.transform).norm(), 1e-12 * metric.norm());
}

TEST(Lmnn, ProvesItsOptimum) {
  const ThreadLimit single(1);
  for (const double push : {0.1, 0.5, 0.9}) expect_optimal(noisy_clouds(80, 4, 3, 1.5, 3), {{"push", push}});
  expect_optimal(noisy_clouds(60, 2, 2, 1, 3), {{"neighbours", 1}});
  expect_optimal(noisy_clouds(60, 3, 2, 1, 5), {}, 1e-6);
}

// From different starts, to one optimum: the problem is convex.
TEST(Lmnn, DoesNotDependOnItsStart) {
  const ThreadLimit single(1);
  const LabelledRows data = noisy_clouds(80, 4, 3, 1.5, 3);
  const double objective = learn("lmnn", data.rows, data.classes).report.objective;
  // The second start sees only noise, and gradients alone do not lead away from it.
  for (const Matrix& start : {Matrix(0.1 * random_matrix(4, 4, 7)), Matrix(Vector::Unit(4, 3).asDiagonal())}) {
    const LmnnResult result = internal::learn_lmnn(data.rows, data.classes, choices_of("lmnn"), {}, &start);
    EXPECT_NEAR(result.learned.report.objective, objective, 1e-3 * objective);
  }
}

// Reference: metric-learn's LMNN with its standard options and init='identity' (see
// benchmarks/neighbours_comparison.py). It ends before the optimum.
TEST(Lmnn, IsBetterThanTheReferenceImplementation) {
  const ThreadLimit single(1);
  const std::pair<const char*, double> references[] = {
      {"iris", 226.966}, {"wine", 1023.15}, {"balance-scale", 3275.95}, {"ionosphere", 2262.57}};
  for (const auto& [name, reference] : references) {
    const Table table = load_builtin(name);
    const MethodReport report = learn("lmnn", table.features, table.labels->of_row).report;
    EXPECT_EQ(report.status, Status::kConverged) << name;
    EXPECT_LT(report.objective, reference) << name;
    EXPECT_LE(report.stationarity, 1e-3) << name;
  }
}

TEST(Lmnn, HandlesDirectionsInWhichTargetsDoNotDiffer) {
  LabelledRows data = noisy_clouds(60, 3, 2, 1, 2);
  Matrix extended(60, 5);
  extended << data.rows, Vector::Constant(60, 3), Vector::Zero(60);
  for (Index i = 0; i < 60; ++i) extended(i, 4) = data.classes[static_cast<std::size_t>(i)];  // tells the classes
  const LmnnResult result = internal::learn_lmnn(extended, data.classes, choices_of("lmnn"), {});
  EXPECT_LT(result.learned.report.objective, learn("lmnn", data.rows, data.classes).report.objective);
  EXPECT_GE(result.learned.report.objective, result.lower_bound);
  EXPECT_TRUE(result.transform.allFinite());
}

TEST(Lmnn, HonoursLimitsAndStops) { expect_limits_and_stops("lmnn"); }

TEST(Lmnn, RefusesRowsThatAreAllEqual) {
  const Matrix rows = Matrix::Constant(4, 2, 5.0);
  EXPECT_THAT(
      [&] {
        learn("lmnn", rows, ClassOfRow{0, 0, 1, 1});
      },
      ThrowsMessage<Error>(HasSubstr("all rows are equal")));
}

TEST(Lmnn, RefusesBadInput) {
  const LabelledRows data = noisy_clouds(30, 3, 3, 3, 1);
  expect_refused("lmnn", data, {{"neighbours", 0}}, "neighbours is 0; allowed: a whole number from 1 to 1000000000");
  expect_refused("lmnn", data, {{"neighbours", 1e10}}, "neighbours is 10000000000");
  expect_refused("lmnn", data, {{"push", 0}}, "push is 0; allowed: a number above 0, up to 0.999999");
  expect_refused("lmnn", data, {{"push", 1}}, "push is 1; allowed: a number above 0, up to 0.999999");
  expect_refused("lmnn", data, {{"push", -0.5}}, "push is -0.5");
  EXPECT_THAT([&] { learn("lmnn", data.rows, ClassOfRow(30, 0)); }, ThrowsMessage<Error>(HasSubstr("class")));
}

// No impostor is near at the start, and next to nothing is left of the loss at the end.
TEST(Lmnn, ConvergesWhereClassesAreFarApart) {
  const ThreadLimit single(1);
  for (const double apart : {10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e6}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      LabelledRows data{random_matrix(60, 3, seed), ClassOfRow(60)};
      for (Index i = 0; i < 60; ++i) {
        data.classes[static_cast<std::size_t>(i)] = static_cast<int>(i % 3);
        data.rows(i, 0) += apart * static_cast<double>(i % 3);
      }
      const LmnnResult result = internal::learn_lmnn(data.rows, data.classes, choices_of("lmnn"), {});
      const double objective = result.learned.report.objective;
      EXPECT_EQ(to_string(result.learned.report.status), "converged") << apart;
      EXPECT_LE(result.lower_bound, objective);
      // Every hinge of the 60 * 3 * 40 triplets is 1 at M = 0, and they count half.
      const double negligible = 1e-5 * 3600;
      EXPECT_LE(objective - result.lower_bound, 1e-3 * std::max(objective, negligible)) << apart;
      EXPECT_LE(objective, 1000 / (apart * apart)) << apart;
    }
  }
}

}  // namespace
}  // namespace bregmax
