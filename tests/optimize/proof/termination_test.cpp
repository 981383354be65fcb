#include "optimize/proof/termination.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace bregmax::internal {
namespace {

TEST(Termination, TheGapIsRelativeToTheObjective) {
  EXPECT_DOUBLE_EQ(relative_gap(10, 9, 100), 0.1);
  EXPECT_DOUBLE_EQ(relative_gap(-10, -11, 100), 0.1);
}

TEST(Termination, TheFloorIsAThousandthOfTheZeroModelsObjective) {
  EXPECT_DOUBLE_EQ(gap_unit(0.05, 100), 0.1);
  EXPECT_DOUBLE_EQ(gap_unit(0.2, 100), 0.2);
  EXPECT_DOUBLE_EQ(relative_gap(0.05, 0.04, 100), 0.1);
}

TEST(Termination, TheGapOfAProblemWithoutLossIsZero) { EXPECT_EQ(relative_gap(0, 0, 0), 0); }

TEST(Termination, TheGapDoesNotDependOnTheUnitOfTheObjective) {
  EXPECT_DOUBLE_EQ(relative_gap(3e-7, 2e-7, 1e-3), relative_gap(3, 2, 1e4));
}

TEST(Termination, AGapOnEitherSideIsWithinTheTolerance) {
  Proof proof;
  for (const double gap : {1e-4, -1e-4}) {
    proof.relative_gap = gap;
    EXPECT_TRUE(has_gap_within(proof, 1e-4));
    EXPECT_FALSE(has_gap_within(proof, 0.99e-4));
  }
}

TEST(Termination, AProofNeedsAConvexModel) {
  Solution solution;
  solution.report.relative_gap = 1e-9;
  solution.report.convexity_violation = 2e-8;
  EXPECT_FALSE(is_proved(solution, 1e-8, 1));
  EXPECT_TRUE(is_proved(solution, 1e-8, 3));
  EXPECT_FALSE(is_proved(solution, 1e-10, 3));
  EXPECT_TRUE(is_feasible(0, 0));
}

TEST(Termination, ReportsTheFirstReasonToStop) {
  const Stopwatch watch;
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  EXPECT_EQ(interruption(control, watch, 0, 4, 5), std::nullopt);
  EXPECT_EQ(interruption(control, watch, 1e9, 4, 5), std::nullopt);
  EXPECT_EQ(interruption(control, watch, 0, 5, 5), Status::kIterationLimit);
  while (watch.seconds() < 1e-6) continue;
  EXPECT_EQ(interruption(control, watch, 1e-6, 5, 5), Status::kTimeLimit);
  stop = true;
  EXPECT_EQ(interruption(control, watch, 1e-6, 5, 5), Status::kStopped);
}

}  // namespace
}  // namespace bregmax::internal
