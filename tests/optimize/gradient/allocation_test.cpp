// The steps of both optimisers allocate nothing.

#include "optimize/allocations.hpp"
#include "optimize/gradient/problems.hpp"

namespace bregmax::internal {
namespace {

using GradientAllocations = test::CountedAllocations;

// Whether the steps from the `first` on allocate, seen from the progress that each of them reports.
template <class Train>
void expect_no_allocation_from(int first, int last, const Train& train) {
  long before = -1, after = -1;
  RunControl control;
  control.on_progress = [&](const Progress& progress) {
    if (progress.iteration == first) before = test::allocations();
    if (progress.iteration == last) after = test::allocations();
  };
  train(control);
  ASSERT_GE(before, 0) << "the run ended before step " << first;
  ASSERT_GE(after, 0) << "the run ended before step " << last;
  EXPECT_EQ(after, before);
}

struct AllocationCase {
  const char* name;
  const ParameterLayout& layout;
  TrainingItems training;
  Prices prices;
};

std::vector<AllocationCase> cases(const test::GradientProblem& problem) {
  return {{"labels", test::smooth_layout(), problem.labelled(), {1e-3, 1e-3}},
          {"labels through a network", test::deep_layout(), problem.labelled(), {1e-3, 1e-3}},
          {"comparisons", test::smooth_layout(), problem.compared(), {1e-3, 1e-3}},
          {"comparisons through a network", test::deep_layout(), problem.compared(), {1e-3, 1e-3}}};
}

// The first step may still warm up the BLAS.
TEST_F(GradientAllocations, NoneInStepsOfAdamw) {
  const test::GradientProblem problem;
  for (const AllocationCase& one : cases(problem)) {
    SCOPED_TRACE(one.name);
    AdamwPlan plan;
    plan.steps = 60;
    plan.batch = 64;
    expect_no_allocation_from(1, 60 - 1, [&](const RunControl& control) {
      train_adamw(one.layout, one.training, one.prices, test::start_of(one.layout, problem), plan, {1000, 0, 1e-6},
                  control);
    });
  }
}

TEST_F(GradientAllocations, NoneInStepsOfLbfgs) {
  const test::GradientProblem problem;
  for (const AllocationCase& one : cases(problem)) {
    SCOPED_TRACE(one.name);
    expect_no_allocation_from(1, 25, [&](const RunControl& control) {
      train_lbfgs(one.layout, one.training, one.prices, test::start_of(one.layout, problem), {30, 0, 1e-12}, control);
    });
  }
}

TEST_F(GradientAllocations, NoneInLooksAtHeldOutRows) {
  const test::GradientProblem problem, judges(40, 3, 2);
  const TrainingItems held_out = judges.labelled();
  AdamwPlan plan;
  plan.steps = 400;
  plan.batch = 64;
  TrainExtras extras;
  extras.held_out = &held_out;
  expect_no_allocation_from(1, 60, [&](const RunControl& control) {
    train_adamw(test::deep_layout(), problem.labelled(), {}, test::start_of(test::deep_layout(), problem), plan,
                {1000, 0, 1e-6}, control, extras);
  });
}

}  // namespace
}  // namespace bregmax::internal
