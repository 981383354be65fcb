#include "optimize/gradient/train.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "bregmax/core/random.hpp"
#include "optimize/gradient/start.hpp"

namespace bregmax::internal {
namespace {

// Two classes that differ in the first of three features.
struct TwoClasses {
  Matrix rows{200, 3};
  std::vector<int> classes;

  TwoClasses() {
    Random random(1);
    for (Index i = 0; i < rows.rows(); ++i) {
      classes.push_back(static_cast<int>(i % 2));
      rows.row(i) << random.normal() + 3 * classes.back(), random.normal(), random.normal();
    }
  }
  TrainingItems training() const { return {rows, classes}; }
};

TEST(Train, BothOptimisersLowerTheSameObjective) {
  const TwoClasses data;
  const ParameterLayout layout({{3}, Activation::kRelu, 8, 3});
  const Vector start = start_parameters(layout, data.rows, Random(1));
  const Prices prices{1e-3, 0};
  const TrainResult exact = train_lbfgs(layout, data.training(), prices, start, {1000, 0, 1e-9}, {});
  EXPECT_EQ(exact.status, Status::kConverged);
  AdamwPlan plan;
  plan.steps = 2000;
  plan.batch = 200;
  const TrainResult quick = train_adamw(layout, data.training(), prices, start, plan, {100000, 0, 1e-6}, {});
  EXPECT_EQ(quick.status, Status::kConverged);
  EXPECT_EQ(quick.steps, 2000);
  EXPECT_NEAR(quick.objective, exact.objective, 0.01 * std::abs(exact.objective));
  EXPECT_LT(exact.stationarity, 1e-2);
}

TEST(Train, RunsWithTheSameSeedAreTheSame) {
  const TwoClasses data;
  const ParameterLayout layout({{3, 16, 2}, Activation::kRelu, 8, 2});
  const Vector start = start_parameters(layout, data.rows, Random(1));
  AdamwPlan plan;
  plan.steps = 50;
  plan.batch = 64;
  const TrainResult one = train_adamw(layout, data.training(), {}, start, plan, {1000, 0, 1e-6}, {});
  const TrainResult two = train_adamw(layout, data.training(), {}, start, plan, {1000, 0, 1e-6}, {});
  EXPECT_EQ(one.parameters, two.parameters);
  plan.seed = 1;
  EXPECT_NE(one.parameters, train_adamw(layout, data.training(), {}, start, plan, {1000, 0, 1e-6}, {}).parameters);
}

TEST(Train, LimitsAndTheStopFlagEndARun) {
  const TwoClasses data;
  const ParameterLayout layout({{3}, Activation::kRelu, 8, 3});
  const Vector start = start_parameters(layout, data.rows, Random(1));
  AdamwPlan plan;
  const TrainResult limited = train_adamw(layout, data.training(), {}, start, plan, {7, 0, 1e-6}, {});
  EXPECT_EQ(limited.status, Status::kIterationLimit);
  EXPECT_EQ(limited.steps, 7);
  plan.steps = 10'000'000;
  const TrainResult timed = train_adamw(layout, data.training(), {}, start, plan, {100'000'000, 0.1, 1e-6}, {});
  EXPECT_EQ(timed.status, Status::kTimeLimit);
  EXPECT_LT(timed.seconds, 2);
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress& progress) { stop = progress.iteration >= 5; };
  const TrainResult stopped = train_adamw(layout, data.training(), {}, start, plan, {100'000'000, 0, 1e-6}, control);
  EXPECT_EQ(stopped.status, Status::kStopped);
  EXPECT_EQ(stopped.steps, 5);
  stop = false;
  EXPECT_EQ(train_lbfgs(layout, data.training(), {}, start, {1000, 0, 1e-12}, control).status, Status::kStopped);
}

// The loss of all rows, in double precision.
double loss_at(const ParameterLayout& layout, const TwoClasses& data, const Vector& parameters) {
  std::vector<Index> all(static_cast<std::size_t>(data.rows.rows()));
  std::iota(all.begin(), all.end(), 0);
  Vector gradient(layout.size);
  return make_objective<double>(layout, data.training(), {}, std::ssize(all))
      ->evaluate(parameters.data(), all, gradient.data());
}

// By overflow at once, by overflow after some steps, and to huge but finite losses.
TEST(Train, ARunThatDivergesEndsWithTheBestThatItHasSeen) {
  const TwoClasses data;
  for (const std::vector<Index>& widths : {std::vector<Index>{3}, {3, 16, 2}}) {
    const ParameterLayout layout({widths, Activation::kRelu, 8, 2});
    const Vector start = start_parameters(layout, data.rows, Random(1));
    for (const double rate : {1e6, 1e18, 1e30}) {
      SCOPED_TRACE(rate);
      AdamwPlan plan;
      plan.rate = rate;
      const TrainResult result = train_adamw(layout, data.training(), {}, start, plan, {1000, 0, 1e-6}, {});
      EXPECT_EQ(result.status, Status::kNumericalError);
      EXPECT_TRUE(result.parameters.allFinite());
      EXPECT_LE(loss_at(layout, data, result.parameters), loss_at(layout, data, start));
      EXPECT_EQ(result.objective, loss_at(layout, data, result.parameters));
    }
  }
}

TEST(Train, ALimitKeepsItsStatusWhereTheRunDiverges) {
  const TwoClasses data;
  const ParameterLayout layout({{3}, Activation::kRelu, 8, 3});
  const Vector start = start_parameters(layout, data.rows, Random(1));
  AdamwPlan plan;
  plan.rate = 1e6;
  const TrainResult result = train_adamw(layout, data.training(), {}, start, plan, {3, 0, 1e-6}, {});
  EXPECT_EQ(result.status, Status::kIterationLimit);
  EXPECT_LE(result.objective, loss_at(layout, data, start));
}

TEST(Train, RowsTooLargeForSinglePrecisionLeaveTheStart) {
  TwoClasses data;
  data.rows *= 1e30;
  const ParameterLayout layout({{3}, Activation::kRelu, 8, 3});
  const Vector start = start_parameters(layout, data.rows, Random(1));
  const TrainResult result = train_adamw(layout, data.training(), {}, start, {}, {1000, 0, 1e-6}, {});
  EXPECT_EQ(result.status, Status::kNumericalError);
  EXPECT_EQ(result.parameters, start);
  EXPECT_TRUE(train_lbfgs(layout, data.training(), {}, start, {50, 0, 1e-6}, {}).parameters.allFinite());
}

TEST(Train, ReportsLossAndShareOfTheSteps) {
  const TwoClasses data;
  const ParameterLayout layout({{3}, Activation::kRelu, 8, 3});
  const Vector start = start_parameters(layout, data.rows, Random(1));
  std::vector<Progress> seen;
  RunControl control;
  control.on_progress = [&](const Progress& progress) { seen.push_back(progress); };
  AdamwPlan plan;
  plan.steps = 10;
  train_adamw(layout, data.training(), {}, start, plan, {1000, 0, 1e-6}, control);
  ASSERT_EQ(seen.size(), 10U);
  EXPECT_EQ(seen[0].fraction, 0);
  EXPECT_NEAR(seen[7].fraction, 0.7, 1e-12);
  EXPECT_LT(seen[9].objective, seen[1].objective);
  seen.clear();
  train_adamw(layout, data.training(), {}, start, plan, {5, 0, 1e-6}, control);
  EXPECT_EQ(seen.back().fraction, 1) << "the limit ends the run";
  seen.clear();
  train_lbfgs(layout, data.training(), {}, start, {1000, 0, 1e-6}, control);
  EXPECT_TRUE(std::isnan(seen.front().fraction)) << "nobody knows how many steps it takes";
  EXPECT_LT(seen.back().objective, seen.front().objective);
}

TEST(Train, APriceOnFeaturesDropsThoseThatSayNothing) {
  const TwoClasses data;
  const ParameterLayout layout({{3}, Activation::kRelu, 8, 3});
  const Vector start = start_parameters(layout, data.rows, Random(1));
  const TrainResult result = train_lbfgs(layout, data.training(), {0, 0.05}, start, {2000, 0, 1e-9}, {});
  const Vector norms = feature_norms(layout, result.parameters.data());
  EXPECT_GT(norms[0], 0.3);
  EXPECT_LT(norms.tail(2).maxCoeff(), 0.01 * norms[0]);
}

}  // namespace
}  // namespace bregmax::internal
