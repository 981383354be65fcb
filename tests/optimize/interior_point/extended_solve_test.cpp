#include "optimize/interior_point/extended_solve.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "optimize/hard_problems.hpp"
#include "optimize/interior_point/extended_method.hpp"

namespace bregmax {
namespace {

Solution solve_with_more_digits(const LearningProblem& problem, const InteriorPointOptions& options = {},
                                const RunControl& control = {}) {
  return internal::solve_extended(problem, options, control, {}, 0);
}

class ExtendedOptimum : public ::testing::TestWithParam<test::Family> {};

// The two methods share the canonical form and the certificate, and nothing in between.
TEST_P(ExtendedOptimum, IsThatOfTheUsualMethod) {
  for (const test::Kind kind : test::kKinds) {
    for (int seed = 100; seed < 100 + test::repeats(6); ++seed) {
      SCOPED_TRACE(::testing::Message() << to_string(kind) << " seed " << seed);
      Random random(static_cast<std::uint64_t>(seed));
      const LearningProblem problem = GetParam().make(random, kind);
      ASSERT_TRUE(internal::ExtendedMethod::can_afford(problem));
      const Solution usual = test::solve(problem);
      if (usual.report.iterations == 0) continue;  // the zero model, which is not for it
      const Solution extended = solve_with_more_digits(problem);
      test::expect_optimal(problem, extended);
      const double unit = std::max(usual.report.objective, 1e-3 * test::zero_objective(problem));
      EXPECT_NEAR(extended.report.objective, usual.report.objective, 2e-8 * unit) << test::describe(problem);
      EXPECT_LE(extended.report.iterations, 100);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ExtendedOptimum, ::testing::ValuesIn(test::hard_families()),
                         [](const auto& family) { return std::string(family.param.name); });

// Rows of 1e6, 1 and 1e-6: what the last are worth to the optimum is beyond what doubles hold of the first.
LearningProblem mixed_units(int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  Matrix points = test::normal_rows(random, 13, 4);
  points.col(0) *= 1e6;
  points.col(2) *= 1e-6;
  points.col(3) *= 1e-6;
  auto supervision = test::random_supervision(random, test::Kind::kPairs, 13, 21);
  return test::make_problem(std::move(points), std::move(supervision), 0, 3.4);
}

TEST(ExtendedSolve, HonoursLimitsAndTheStopFlag) {
  const LearningProblem problem = mixed_units(1);
  const Solution few = solve_with_more_digits(problem, {.max_iterations = 2});
  EXPECT_EQ(few.report.status, Status::kIterationLimit);
  EXPECT_EQ(few.report.iterations, 2);
  test::expect_sound(problem, few);
  EXPECT_EQ(solve_with_more_digits(problem, {.time_limit = 1e-9}).report.status, Status::kTimeLimit);
  std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  EXPECT_EQ(solve_with_more_digits(problem, {}, control).report.status, Status::kStopped);
}

TEST(ExtendedSolve, ReportsProgress) {
  int calls = 0, last = -1;
  RunControl control;
  control.on_progress = [&](const Progress& progress) {
    ++calls;
    EXPECT_GT(progress.iteration, last);
    last = progress.iteration;
  };
  const Solution solution = solve_with_more_digits(mixed_units(1), {}, control);
  EXPECT_EQ(solution.report.status, Status::kOptimal);
  EXPECT_EQ(calls, solution.report.iterations + 1);
}

TEST(ExtendedSolve, IsForSmallProblems) {
  Random random(1);
  const auto affordable = [&](Index rows, Index features) {
    return internal::ExtendedMethod::can_afford(
        test::make_problem(test::normal_rows(random, rows, features), Pairs{{0, 1, false}}, 1));
  };
  EXPECT_TRUE(affordable(100, 5));
  EXPECT_FALSE(affordable(100, 50));
  EXPECT_FALSE(affordable(2000, 1));
}

}  // namespace
}  // namespace bregmax
