// The solvers allocate nothing inside their iterations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/threads.hpp"
#include "optimize/admm/engine.hpp"
#include "optimize/allocations.hpp"
#include "optimize/interior_point/primal_dual_method.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problems.hpp"

namespace bregmax {
namespace {

// Iterations alone: the proofs that follow them, also where they then go on, allocate.
void expect_no_allocation(const LearningProblem& problem) {
  SCOPED_TRACE(test::describe(problem));
  constexpr double kSmallGap = 1e-7;
  constexpr int kMostIterations = 60;
  const ThreadLimit single(1);
  const internal::CanonicalProblem canonical = internal::canonicalize(problem);
  internal::Recovery recovery;
  const internal::InteriorPointSettings settings;
  internal::PrimalDualMethod method(canonical, settings, recovery);
  method.start();
  int iteration = 0;
  for (double gap = 1; gap > kSmallGap; ++iteration) {
    ASSERT_LT(iteration, kMostIterations);
    const long before = test::allocations();
    const internal::IterateMeasures& now = method.measure();
    const double unit = std::max(std::abs(now.primal), 1e-3 * canonical.zero_objective / canonical.objective_unit);
    gap = std::abs(now.primal - now.dual) / unit;
    ASSERT_TRUE(method.advance(1e-10 * unit / static_cast<double>(method.iterate().product_count), unit));
    // The first iteration may still warm up the BLAS.
    if (iteration > 0) {
      EXPECT_EQ(test::allocations(), before) << "in iteration " << iteration;
    }
  }
  EXPECT_GT(iteration, 4);
}

LearningProblem problem_of(test::Kind kind, Index rows, Index features, Index items, int pieces, double lambda,
                           double bound = test::kNoBound) {
  Random random(3);
  Matrix points = test::normal_rows(random, rows, features);
  auto supervision = test::random_supervision(random, kind, rows, items);
  auto piece_of = pieces == rows ? test::own_pieces(rows) : test::nearest_pieces(random, points, pieces);
  return test::make_problem(std::move(points), std::move(piece_of), std::move(supervision), lambda, bound);
}

using Allocations = test::CountedAllocations;

TEST_F(Allocations, AreCounted) {
  const long before = test::allocations();
  const Vector vector = Vector::Zero(1000);
  EXPECT_EQ(vector.sum(), 0);
  EXPECT_GE(test::allocations(), before + 1);
}

TEST_F(Allocations, NoneWithManyComparisons) {
  expect_no_allocation(problem_of(test::Kind::kComparisons, 30, 3, 500, 30, 0.1));
}

// So few, and so many unknowns, that the arrow with a low-rank term is the cheaper one; the set of constraints grows.
TEST_F(Allocations, NoneWithFewComparisonsAndManyFeatures) {
  expect_no_allocation(problem_of(test::Kind::kComparisons, 90, 12, 60, 90, 0.1));
}

TEST_F(Allocations, NoneWithPairs) { expect_no_allocation(problem_of(test::Kind::kPairs, 40, 4, 400, 40, 0.1)); }

TEST_F(Allocations, NoneWithTargets) {
  expect_no_allocation(problem_of(test::Kind::kTargets, 40, 4, 400, 40, 0.1));
  expect_no_allocation(problem_of(test::Kind::kTargets, 40, 4, 400, 40, 0, 2));
}

TEST_F(Allocations, NoneWithFewerPiecesThanRows) {
  for (const test::Kind kind : test::kKinds) expect_no_allocation(problem_of(kind, 60, 4, 300, 10, 0.1));
}

// PenaltySchedule: penalties change after iteration 20 and after iteration 1.25 * 20 + 20 = 45, then ever more rarely.
TEST_F(Allocations, NoneInIterationsOfAdmmOnEntries) {
  const ThreadLimit single(1);
  for (const test::Kind kind : test::kKinds) {
    for (const int pieces : {60, 8}) {
      const LearningProblem problem = problem_of(kind, 60, 4, 300, pieces, 0.1);
      SCOPED_TRACE(test::describe(problem));
      const auto engine = internal::make_entry_engine(problem);
      engine->start();
      for (int t = 0; t < 20; ++t) engine->iterate();
      const long before = test::allocations();
      for (int t = 20; t < 44; ++t) engine->iterate();
      EXPECT_EQ(test::allocations(), before);
      engine->iterate();
      EXPECT_GT(test::allocations(), before) << "no penalty changed: the test looks at the wrong iterations";
    }
  }
}

// Between changes of the penalty, and between proofs.
TEST_F(Allocations, NoneInIterationsOfAdmmOnTheGrid) {
  LearningProblem problem = problem_of(test::Kind::kPairs, 70, 6, 10, 70, 1);
  LabelPairs pairs;
  for (int i = 0; i < 70; ++i) pairs.class_of_row.push_back(i % 3);
  problem.supervision = pairs;
  const auto engine = internal::make_grid_engine(problem, {});
  const ThreadLimit single(1);
  engine->start();
  for (int t = 0; t < 5; ++t) engine->iterate();
  const long before = test::allocations();
  for (int t = 0; t < 10; ++t) engine->iterate();
  EXPECT_EQ(test::allocations(), before);
}

}  // namespace
}  // namespace bregmax
