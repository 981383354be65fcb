#include <gtest/gtest.h>

#include <numeric>

#include "optimize/gradient/problems.hpp"

namespace bregmax::internal {
namespace {

double mean_loss(const ParameterLayout& layout, const TrainingItems& items, const Vector& parameters) {
  std::vector<Index> all(items.items.empty() ? items.rows.rows() : std::ssize(items.items));
  std::iota(all.begin(), all.end(), 0);
  Vector gradient(layout.size);
  return make_objective<double>(layout, items, {}, std::ssize(all))->evaluate(parameters.data(), all, gradient.data());
}

// Labels at random: whatever is learned of them is wrong on other rows.
struct Noise {
  test::GradientProblem train{60}, others{60, 3, 2};
  TrainingItems held_out;

  Noise() : held_out(others.labelled()) {
    Random random(5);
    for (int& label : train.classes) label = static_cast<int>(random.uniform_index(2));
    for (int& label : held_out.class_of_row) label = static_cast<int>(random.uniform_index(2));
  }
};

TEST(EarlyStop, EndsARunThatOnlyFitsNoise) {
  const Noise noise;
  const ParameterLayout layout({{3, 32, 4}, Activation::kRelu, 20, 4});
  const Vector start = test::start_of(layout, noise.train);
  AdamwPlan plan;
  plan.steps = 2000;
  plan.batch = 60;
  plan.rate = 0.01;
  TrainExtras extras;
  const TrainResult whole = train_adamw(layout, noise.train.labelled(), {}, start, plan, {100000, 0, 1e-6}, {});
  extras.held_out = &noise.held_out;
  const TrainResult stopped =
      train_adamw(layout, noise.train.labelled(), {}, start, plan, {100000, 0, 1e-6}, {}, extras);
  EXPECT_EQ(stopped.status, Status::kEarlyStopped);
  EXPECT_LT(stopped.steps, 2000);
  EXPECT_LT(mean_loss(layout, noise.held_out, stopped.parameters),
            mean_loss(layout, noise.held_out, whole.parameters) - 0.1);
  const TrainResult exact = train_lbfgs(layout, noise.train.labelled(), {}, start, {1000, 0, 1e-9}, {}, extras);
  EXPECT_EQ(exact.status, Status::kEarlyStopped);
  EXPECT_LT(exact.steps, 1000);
  EXPECT_LT(mean_loss(layout, noise.held_out, exact.parameters),
            mean_loss(layout, noise.held_out, whole.parameters) - 0.1);
}

// The same rows are held out as are learned from, so that the loss falls with every step.
TEST(EarlyStop, LetsARunGoOnThatMakesProgress) {
  const test::GradientProblem problem;
  const TrainingItems training = problem.labelled();
  const ParameterLayout& layout = test::smooth_layout();
  const Vector start = test::start_of(layout, problem);
  const TrainLimits limits{100000, 0, 1e-6};
  const TrainResult whole = train_lbfgs(layout, training, {}, start, limits, {});
  TrainExtras extras;
  extras.held_out = &training;
  const TrainResult result = train_lbfgs(layout, training, {}, start, limits, {}, extras);
  EXPECT_EQ(result.status, Status::kConverged);
  EXPECT_EQ(result.parameters, whole.parameters);
}

TEST(EarlyStop, ALimitStillGivesTheParametersWithTheLowestLoss) {
  const Noise noise;
  const ParameterLayout layout({{3, 32, 4}, Activation::kRelu, 20, 4});
  const Vector start = test::start_of(layout, noise.train);
  AdamwPlan plan;
  plan.steps = 2000;
  plan.batch = 60;
  plan.rate = 0.01;
  TrainExtras extras;
  extras.held_out = &noise.held_out;
  const TrainLimits limits{500, 0, 1e-6};  // the tenth look of the plan
  const TrainResult limited = train_adamw(layout, noise.train.labelled(), {}, start, plan, limits, {}, extras);
  EXPECT_EQ(limited.status, Status::kIterationLimit);
  const TrainResult last = train_adamw(layout, noise.train.labelled(), {}, start, plan, limits, {});
  EXPECT_LT(mean_loss(layout, noise.held_out, limited.parameters), mean_loss(layout, noise.held_out, last.parameters));
}

}  // namespace
}  // namespace bregmax::internal
