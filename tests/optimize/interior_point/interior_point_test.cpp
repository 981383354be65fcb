#include "bregmax/optimize/interior_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/supervision/sample.hpp"
#include "optimize/interior_point/circle.hpp"

namespace bregmax {
namespace {

using test::kKinds;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Not solved at the start, nor within a few iterations.
LearningProblem work(test::Kind kind, Index rows = 20, Index features = 3, Index items = 120) {
  Random random(1);
  Matrix points = test::normal_rows(random, rows, features);
  auto supervision = test::random_supervision(random, kind, rows, items);
  return test::make_problem(std::move(points), std::move(supervision), 0.05);
}

// Points so close that the multipliers of convexity between them are in the thousands.
TEST(InteriorPoint, SolvesTargetsOfPointsThatAreNearlyEqual) {
  constexpr Index kRows = 100;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    Matrix points(kRows, 1);
    for (double& x : points.reshaped()) x = random.uniform();
    Targets targets;
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < kRows; ++j) {
        const double p = points(i, 0), q = points(j, 0);
        const double kl = p * std::log(p / q) + (1 - p) * std::log((1 - p) / (1 - q));
        if (i != j) targets.push_back({i, j, kl + 0.05 * random.normal()});
      }
    }
    const LearningProblem problem = test::make_problem(points, std::move(targets), 0);
    const Solution solution = test::solve(problem, {.tolerance = 1e-6});
    EXPECT_EQ(solution.report.status, Status::kOptimal) << seed;
    EXPECT_LE(solution.report.iterations, 60) << seed;
    test::expect_sound(problem, solution);
  }
}

// On a circle neighbours are close as well, and comparisons couple them.
TEST(InteriorPoint, SolvesComparisonsOfPointsOnACircle) {
  for (const double lambda : {0.01, 1.0, 100.0}) {
    const LearningProblem problem = test::circle_problem(200, 500, lambda);
    const Solution solution = test::solve(problem);
    EXPECT_EQ(solution.report.status, Status::kOptimal) << lambda;
    EXPECT_LE(solution.report.iterations, 120) << lambda;
  }
}

// Every pair is similar and dissimilar: no model has less loss than the zero model, and the slopes that iterations
// leave would rank rows by noise.
TEST(InteriorPoint, GivesTheZeroModelItselfWhereNoneIsBetter) {
  constexpr Index kRows = 12;
  Random random(4);
  const Matrix points = test::normal_rows(random, kRows, 3);
  Pairs pairs;
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kRows; ++j) {
      if (i == j) continue;
      pairs.push_back({i, j, true});
      pairs.push_back({i, j, false});
    }
  }
  for (const double lambda : {1e-3, 0.1, 1.0}) {
    const LearningProblem problem = test::make_problem(points, pairs, lambda);
    const Solution solution = solve_interior_point(problem);
    EXPECT_EQ(solution.report.status, Status::kOptimal);
    EXPECT_TRUE(solution.slopes.isZero(0)) << "lambda " << lambda;
    EXPECT_TRUE(solution.offsets.isZero(0));
    EXPECT_LE(certify(problem, solution).relative_gap, 1e-8);
  }
}

TEST(Limits, OfIterationsIsAStatusAndTheReportStillHolds) {
  for (const auto kind : kKinds) {
    for (const int limit : {1, 3}) {
      const LearningProblem problem = work(kind);
      const Solution solution = test::solve(problem, {.max_iterations = limit});
      EXPECT_EQ(solution.report.status, Status::kIterationLimit);
      EXPECT_EQ(solution.report.iterations, limit);
      EXPECT_GT(solution.report.relative_gap, 1e-8);
      test::expect_sound(problem, solution);
    }
  }
}

TEST(Limits, OfTimeIsAStatusAndTheReportStillHolds) {
  for (const auto kind : kKinds) {
    const LearningProblem problem = work(kind);
    const Solution solution = test::solve(problem, {.time_limit = 1e-9});
    EXPECT_EQ(solution.report.status, Status::kTimeLimit);
    EXPECT_EQ(solution.report.iterations, 0);
    test::expect_sound(problem, solution);
  }
}

TEST(Limits, StopFlagIsHonouredBeforeTheNextIteration) {
  for (const auto kind : kKinds) {
    for (const int when : {0, 1, 4}) {
      const LearningProblem problem = work(kind);
      std::atomic<bool> stop = false;
      RunControl control;
      control.stop = &stop;
      control.on_progress = [&](const Progress& progress) { stop = progress.iteration >= when; };
      const Solution solution = test::solve(problem, {}, control);
      EXPECT_EQ(solution.report.status, Status::kStopped);
      EXPECT_EQ(solution.report.iterations, when);
      test::expect_sound(problem, solution);
    }
  }
}

TEST(Progress, IsReportedEveryIteration) {
  for (const auto kind : kKinds) {
    const LearningProblem problem = work(kind);
    std::vector<Progress> seen;
    RunControl control;
    control.on_progress = [&](const Progress& progress) { seen.push_back(progress); };
    const Solution solution = test::solve(problem, {}, control);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.front().iteration, 0);
    EXPECT_EQ(seen.back().iteration, solution.report.iterations);
    for (std::size_t p = 0; p < seen.size(); ++p) {
      EXPECT_EQ(seen[p].phase, "solve");
      EXPECT_TRUE(std::isfinite(seen[p].relative_gap));
      EXPECT_TRUE(std::isfinite(seen[p].objective));
      EXPECT_TRUE(std::isfinite(seen[p].primal_residual));
      EXPECT_TRUE(std::isfinite(seen[p].dual_residual));
      if (p == 0) continue;
      EXPECT_GE(seen[p].iteration, seen[p - 1].iteration);
      EXPECT_LE(seen[p].iteration, seen[p - 1].iteration + 1);
      EXPECT_GE(seen[p].seconds, seen[p - 1].seconds);
    }
    EXPECT_GT(seen.back().seconds, 0);
  }
}

TEST(Options, OutOfRangeAreRefused) {
  const LearningProblem problem = work(test::Kind::kPairs);
  const auto refused = [&](const InteriorPointOptions& options, const char* field) {
    EXPECT_THAT([&] { solve_interior_point(problem, options); }, ThrowsMessage<Error>(HasSubstr(field)));
  };
  for (const double tolerance : {0.0, -1.0, 1e-13, 0.2, kNan, kInfinity}) {
    refused({.tolerance = tolerance}, "tolerance");
  }
  for (const int iterations : {0, -5}) refused({.max_iterations = iterations}, "max_iterations");
  for (const double seconds : {-1.0, kNan}) refused({.time_limit = seconds}, "time_limit");
}

TEST(Problem, ThatBreaksTheRulesIsRefused) {
  const auto refused = [](const auto& spoil, const char* message) {
    LearningProblem problem = work(test::Kind::kComparisons);
    spoil(problem);
    EXPECT_THAT([&] { validate(problem); }, ThrowsMessage<Error>(HasSubstr(message)));
    EXPECT_THAT([&] { solve_interior_point(problem); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  using P = LearningProblem;
  refused([](P& p) { p.points.resize(0, 3); }, "points is 0 x 3");
  refused([](P& p) { p.points.resize(20, 0); }, "points is 20 x 0");
  refused([](P& p) { p.points(3, 1) = kNan; }, "points row 3 feature 1 is nan");
  refused([](P& p) { p.points(0, 0) = kInfinity; }, "points row 0 feature 0 is inf");
  refused([](P& p) { p.pieces = 0; }, "pieces is 0");
  refused([](P& p) { p.pieces = 21; }, "piece 20 has no row");
  refused([](P& p) { p.piece_of.pop_back(); }, "piece_of has 19 entries for 20 rows");
  refused([](P& p) { p.piece_of[2] = -1; }, "row 2 is on piece -1");
  refused([](P& p) { p.piece_of[2] = 20; }, "row 2 is on piece 20");
  for (const double lambda : {-1.0, kNan, kInfinity}) refused([&](P& p) { p.lambda = lambda; }, "lambda is");
  for (const double bound : {0.0, -1.0, kNan}) refused([&](P& p) { p.lipschitz_bound = bound; }, "Lipschitz bound is");
  refused([](P& p) { p.supervision = Comparisons{}; }, "no comparisons");
  refused([](P& p) { p.supervision = Pairs{}; }, "no pairs");
  refused([](P& p) { p.supervision = Targets{}; }, "no targets");
  refused([](P& p) { p.supervision = Comparisons{{0, 1, 2, 20}}; }, "comparison 0: row number 20");
  refused([](P& p) { p.supervision = Pairs{{0, 1, true}, {-1, 0, true}}; }, "pair 1: row number -1");
  refused([](P& p) { p.supervision = Targets{{0, 1, kNan}}; }, "target 0: value is nan");
  refused(
      [](P& p) {
        p.supervision = Targets{{0, 1, -1e51}};
      },
      "target 0: value is -1e+51; allowed: a number of at most 1e+50");
  refused([](P& p) { p.supervision = Targets{{0, 1, 1, -1}}; }, "target 0: weight is -1");
  refused([](P& p) { p.supervision = Pairs{{0, 1, true, kInfinity}}; }, "pair 0: weight is inf");
}

TEST(Status, HasANameEach) {
  EXPECT_EQ(to_string(Status::kOptimal), "optimal");
  EXPECT_EQ(to_string(Status::kConverged), "converged");
  EXPECT_EQ(to_string(Status::kIterationLimit), "iteration_limit");
  EXPECT_EQ(to_string(Status::kTimeLimit), "time_limit");
  EXPECT_EQ(to_string(Status::kStopped), "stopped");
  EXPECT_EQ(to_string(Status::kEarlyStopped), "early_stopped");
  EXPECT_EQ(to_string(Status::kNumericalError), "numerical_error");
}

TEST(Tolerance, IsReached) {
  for (const auto kind : kKinds) {
    const LearningProblem problem = work(kind);
    std::vector<int> iterations;
    for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
      const SolveReport report = test::solve(problem, {.tolerance = tolerance}).report;
      EXPECT_EQ(report.status, Status::kOptimal) << tolerance;
      EXPECT_LE(report.relative_gap, tolerance);
      iterations.push_back(report.iterations);
    }
    // The tolerance shapes the path, too, so that neighbours may differ by an iteration either way.
    EXPECT_LT(iterations.front(), iterations.back());
  }
}

TEST(Determinism, TwoRunsAreEqualToTheLastBit) {
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    for (const auto kind : kKinds) {
      // So large that several threads work on it.
      const LearningProblem problem = work(kind, 360, 4, 200);
      const InteriorPointOptions few{.max_iterations = 4};
      const Solution first = solve_interior_point(problem, few), second = solve_interior_point(problem, few);
      EXPECT_EQ(first.slopes, second.slopes);
      EXPECT_EQ(first.offsets, second.offsets);
      EXPECT_EQ(first.dual.convexity, second.dual.convexity);
      EXPECT_EQ(first.dual.items, second.dual.items);
      EXPECT_EQ(first.report.iterations, second.report.iterations);
    }
  }
}

TEST(Determinism, ThreadsDoNotChangeTheOptimum) {
  for (const auto kind : kKinds) {
    if (test::kSanitized && kind != test::Kind::kPairs) continue;
    const LearningProblem problem = work(kind, 360, 4, 300);
    const auto objective = [&](int threads) {
      const ThreadLimit limit(threads);
      return solve_interior_point(problem, {.tolerance = 1e-10}).report.objective;
    };
    const double one = objective(1);
    EXPECT_NEAR(objective(2), one, 1e-9 * one);
  }
}

// Raw features with duplicate rows, and enough comparisons that both factorizations are of use.
TEST(Iris, IsSolvedFromComparisonsPairsAndTargets) {
  const Table iris = load_builtin("iris");
  const auto& classes = iris.labels->of_row;
  for (const double lambda : {0.01, 1.0, 100.0}) {
    for (const Index count : {20, 400}) {
      if (test::kSanitized && count > 20) continue;
      const auto comparisons = sample_comparisons(classes, count, 7);
      test::solve_to_optimality(test::make_problem(iris.features, comparisons, lambda));
    }
    test::solve_to_optimality(test::make_problem(iris.features, all_pairs(classes), lambda));
  }
  Targets targets;
  for (Index i = 0; i < iris.features.rows(); ++i) {
    for (Index j = 0; j < iris.features.rows(); j += 3) {
      targets.push_back({i, j, (iris.features.row(i) - iris.features.row(j)).squaredNorm()});
    }
  }
  test::solve_to_optimality(test::make_problem(iris.features, targets, 0.1));
  test::solve_to_optimality(test::make_problem(iris.features, targets, 0));
}

}  // namespace
}  // namespace bregmax
