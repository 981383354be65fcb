#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/kernel_embedding.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "methods/labelled_rows.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Two rings around the origin.
LabelledRows rings(Index count, std::uint64_t seed) {
  Random random(seed);
  LabelledRows data{Matrix(count, 2), ClassOfRow(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    const double angle = 6.283185307179586 * random.uniform(),
                 radius = 1 + static_cast<double>(i % 2) + 0.1 * random.normal();
    data.rows.row(i) << radius * std::cos(angle), radius * std::sin(angle);
    data.classes[static_cast<std::size_t>(i)] = static_cast<int>(i % 2);
  }
  return data;
}

TEST(Kernel, HasTheValuesOfItsDefinition) {
  const Matrix rows = random_matrix(5, 3, 1), support = random_matrix(4, 3, 2);
  const Matrix rbf = Kernel{KernelKind::kRbf, 2}.values(rows, support);
  const Matrix cubic = Kernel{KernelKind::kPolynomial, 2, 3}.values(rows, support);
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 4; ++j) {
      EXPECT_NEAR(rbf(i, j), std::exp(-(rows.row(i) - support.row(j)).squaredNorm() / 8), 1e-14);
      EXPECT_NEAR(cubic(i, j), std::pow(1 + rows.row(i).dot(support.row(j)) / 4, 3), 1e-13);
    }
  }
  EXPECT_THAT(
      [&] {
        (Kernel{KernelKind::kPolynomial, 1, 10}.values(1e20 * rows, support));
      },
      ThrowsMessage<Error>(HasSubstr("leaves the range of numbers")));
}

// The expected number of right rows, by its definition.
double expected_right(const Learned& learned, const LabelledRows& data) {
  Matrix distances = learned.divergence->matrix(data.rows, data.rows);
  distances.diagonal().setConstant(std::numeric_limits<double>::infinity());
  double right = 0;
  for (Index i = 0; i < data.rows.rows(); ++i) {
    const Vector chances = (distances.row(i).minCoeff() - distances.row(i).array()).exp();
    double same = 0;
    for (Index j = 0; j < data.rows.rows(); ++j) {
      if (data.classes[static_cast<std::size_t>(i)] == data.classes[static_cast<std::size_t>(j)]) same += chances(j);
    }
    right += same / chances.sum();
  }
  return right;
}

// The expected number of right rows of the learned embedding is what the report says: the way through principal
// components and the coefficients of the kernel are one map.
TEST(KernelNca, ReportsTheObjectiveOfItsEmbedding) {
  const ThreadLimit single(1);
  const LabelledRows data = rings(60, 1);
  for (const double kernel : {0, 1}) {  // rbf, polynomial
    const MethodSettings settings{.parameters = {{"kernel", kernel}, {"bandwidth", 1}}};
    const Learned learned = learn("kernel-nca", data.rows, data.classes, settings);
    const double right = expected_right(learned, data);
    EXPECT_NEAR(right, -learned.report.objective, 1e-5);
    EXPECT_GT(right, 55);
  }
}

// On a line: no linear map to it keeps rings apart, their radius does.
TEST(KernelNca, SeparatesWhatNoLinearMapDoes) {
  const ThreadLimit single(1);
  const LabelledRows train = rings(90, 1), test = rings(200, 2);
  const auto accuracy = [&](const Divergence& divergence) {
    return expected_accuracy(classify_nearest(divergence, train.rows, train.classes, test.rows), test.classes);
  };
  const Learned linear = learn("nca", train.rows, train.classes, {.parameters = {{"components", 1}}});
  const double without = accuracy(*linear.divergence);
  // The bandwidth is about the distance of the rings; finding the best one is for tuning.
  const MethodSettings settings{.parameters = {{"bandwidth", 1}, {"components", 1}}};
  const Learned learned = learn("kernel-nca", train.rows, train.classes, settings);
  EXPECT_EQ(learned.report.status, Status::kConverged);
  EXPECT_GT(accuracy(*learned.divergence), without + 0.2);
}

// Whenever it is stopped: what it returns can be used and is described by the report.
TEST(KernelNca, ReportsTheObjectiveAlsoAfterAnEarlyEnd) {
  const ThreadLimit single(1);
  const LabelledRows data = rings(40, 3);
  std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  for (const int iterations : {1, 2, 3, 500}) {
    const Learned learned =
        learn("kernel-nca", data.rows, data.classes, {.tolerance = 1e-300, .max_iterations = iterations},
              iterations == 500 ? control : RunControl{});
    EXPECT_EQ(learned.report.status, iterations == 500 ? Status::kStopped : Status::kIterationLimit);
    EXPECT_NEAR(expected_right(learned, data), -learned.report.objective, 1e-5);
    EXPECT_GT(learned.report.stationarity, 1e-300);
  }
}

TEST(KernelNca, RefusesBadInput) {
  const LabelledRows data = rings(30, 1);
  expect_refused("kernel-nca", data, {{"bandwidth", 0}}, "bandwidth is 0; allowed: a number > 0");
  expect_refused("kernel-nca", data, {{"degree", 11}}, "degree is 11; allowed: a whole number from 1 to 10");
  expect_refused("kernel-nca", data, {{"components", -1}}, "components is -1");
}

}  // namespace
}  // namespace bregmax
