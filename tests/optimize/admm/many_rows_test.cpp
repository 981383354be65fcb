// Fewer pieces than rows: the compressed set of entries, the passes over all rows, and the method on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/optimize/admm.hpp"
#include "data/temporary_directory.hpp"
#include "optimize/admm/row_entries.hpp"
#include "optimize/admm/space.hpp"
#include "optimize/problems.hpp"

namespace bregmax {
namespace {

using bregmax::testing::TemporaryDirectory;
using internal::AdmmSpace;
using internal::RowEntries;
using ::testing::ElementsAre;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

LearningProblem problem_of(Random& random, test::Kind kind, Index rows, int pieces, Index items, double lambda = 0.5,
                           double bound = test::kNoBound) {
  Matrix points = test::normal_rows(random, rows, 3);
  auto supervision = test::random_supervision(random, kind, rows, items);
  auto piece_of = test::nearest_pieces(random, points, pieces);
  return test::make_problem(std::move(points), std::move(piece_of), std::move(supervision), lambda, bound);
}

TEST(RowEntries, KeepTheirOrderAndSayWhereTheyWent) {
  Random random(3);
  LearningProblem problem = problem_of(random, test::Kind::kPairs, 6, 3, 5);
  problem.piece_of = {0, 0, 1, 1, 2, 2};
  RowEntries entries(problem);
  EXPECT_TRUE(entries.add({{3, 0}, {0, 2}, {3, 0}}).empty());
  EXPECT_EQ(entries.size(), 2);
  EXPECT_THAT(entries.add({{0, 1}, {2, 0}, {3, 0}}), ElementsAre(1, 3));
  EXPECT_EQ(entries.position(0, 1), 0);
  EXPECT_EQ(entries.position(0, 2), 1);
  EXPECT_EQ(entries.position(2, 0), 2);
  EXPECT_EQ(entries.position(3, 0), 3);
  EXPECT_EQ(entries.position(4, 0), internal::kNoEntry);
  ASSERT_EQ(entries.chunks().size(), 3U);
  EXPECT_EQ(entries.chunks()[2].own, 1);
  EXPECT_EQ(entries.chunks()[2].end, 4);
}

// Every entry by its definition, and the normal matrix as a sum over entries.
TEST(RowSpace, IsTheDivergenceGridOnItsEntries) {
  Random random(4);
  const LearningProblem problem = problem_of(random, test::Kind::kPairs, 3000, 5, 2500);
  const auto row_space = internal::make_row_space(problem);
  AdmmSpace& space = *row_space;
  const Index unknowns = space.unknowns(), size = space.size(), pieces = 5;
  Matrix map = Matrix::Zero(size, unknowns);
  const std::vector<Index> members = space.members();
  for (Index p = 0; p < size; ++p) {
    const Index row = members[at(p)] / pieces, other = members[at(p)] % pieces, own = problem.piece_of[at(row)];
    const Vector x = to_canonical(space.units(), problem, row);
    map(p, own) += 1;
    map(p, other) -= 1;
    map.row(p).segment(pieces + 3 * own, 3) += x.transpose();
    map.row(p).segment(pieces + 3 * other, 3) -= x.transpose();
  }
  const Vector x = test::normal_rows(random, unknowns, 1).col(0), values = test::normal_rows(random, size, 1).col(0);
  Vector applied(size), adjoint(unknowns), solved(unknowns);
  space.apply(x.data(), applied.data());
  EXPECT_TRUE(applied.isApprox(map * x, 1e-12));
  space.adjoint(values.data(), adjoint.data());
  EXPECT_TRUE(adjoint.isApprox(map.transpose() * values, 1e-12));

  const Vector weight = values.cwiseAbs(), slope_weight = Vector::LinSpaced(pieces, 1, 2);
  const double proximal = 1e-3;
  ASSERT_TRUE(space.factor(weight, slope_weight, proximal));
  space.solve(adjoint.data(), solved.data());
  Vector image = map.transpose() * weight.asDiagonal() * (map * solved) + proximal * solved;
  for (Index k = 0; k < pieces; ++k) {
    image.segment(pieces + 3 * k, 3) += slope_weight(k) * solved.segment(pieces + 3 * k, 3);
  }
  // But for what holds the sum of the offsets, which the right side does not ask for.
  EXPECT_NEAR(solved.head(pieces).sum(), 0, 1e-8);
  EXPECT_TRUE(image.isApprox(adjoint, 1e-8));
}

TEST(ManyRows, BoundsHoldTheExactOptimum) {
  Random random(5);
  for (int t = 0; t < test::repeats(30); ++t) {
    const Index rows = 40 + random.uniform_index(160);
    const int pieces = 2 + static_cast<int>(random.uniform_index(12));
    const bool hard_bound = t % 2 == 1;
    const LearningProblem problem = problem_of(random, test::kKinds[t % 3], rows, pieces, 300, hard_bound ? 0 : 2,
                                               hard_bound ? 0.5 : test::kNoBound);
    const double optimum = test::solve(problem).report.objective;
    const ThreadLimit single(1);
    const SolveReport report = solve_admm(problem).report;
    EXPECT_EQ(report.status, Status::kOptimal) << test::describe(problem);
    EXPECT_GE(report.objective, optimum * (1 - 1e-7)) << test::describe(problem);
    EXPECT_LE(report.lower_bound, optimum * (1 + 1e-7)) << test::describe(problem);
    EXPECT_NEAR(report.objective, optimum, 1e-4 * optimum) << test::describe(problem);
  }
}

// What is returned is proved by the certificate, which sees all rows and knows of no set.
TEST(ManyRows, TheListOfMultipliersProvesTheBound) {
  Random random(6);
  const LearningProblem problem = problem_of(random, test::Kind::kComparisons, 2000, 10, 1000, 0.5);
  const Solution solution = solve_admm(problem);
  EXPECT_EQ(solution.dual.convexity.size(), 0);
  EXPECT_FALSE(solution.dual.entries.empty());
  const Certificate certificate = certify(problem, solution);
  // It may prove more than the solver says: of models with a Lipschitz constant up to ten times that of the solution.
  EXPECT_GE(certificate.lower_bound, solution.report.lower_bound - 1e-9 * certificate.objective);
  EXPECT_NEAR(certificate.objective, solution.report.objective, 1e-9 * certificate.objective);
  EXPECT_LE(certificate.convexity_violation, 1e-8);
  EXPECT_LE(certificate.relative_gap, 1e-4);
}

TEST(ManyRows, DoNotDependOnTheNumberOfThreads) {
  for (const auto kind : test::kKinds) {
    Random random(7);
    const LearningProblem problem = problem_of(random, kind, 30'000, 10, 25'000, 5);
    const auto solve = [&](int threads) {
      const ThreadLimit limit(threads);
      return solve_admm(problem, {.max_iterations = 60});
    };
    const Solution one = solve(1), two = solve(2);
    EXPECT_NEAR(two.report.objective, one.report.objective, 1e-9 * one.report.objective);
    EXPECT_NEAR(two.report.lower_bound, one.report.lower_bound, 1e-9 * one.report.objective);
    EXPECT_TRUE(two.slopes.isApprox(one.slopes, 1e-7));
  }
}

TEST(ManyRows, ResumeToTheSameBits) {
  const TemporaryDirectory directory;
  const std::string file = directory / "state";
  for (const auto kind : test::kKinds) {
    Random random(8);
    const LearningProblem problem = problem_of(random, kind, 400, 8, 300);
    const Solution whole = solve_admm(problem, {.tolerance = 1e-8, .max_iterations = 160});
    for (const int first : {1, 20, 50, 117}) {
      solve_admm(problem, {.tolerance = 1e-8, .max_iterations = first, .checkpoint = file});
      const Solution rest = solve_admm(problem, {.tolerance = 1e-8, .max_iterations = 160, .resume = file});
      EXPECT_EQ(rest.report.objective, whole.report.objective) << first;
      EXPECT_EQ(rest.report.lower_bound, whole.report.lower_bound) << first;
      EXPECT_EQ(rest.slopes, whole.slopes) << first;
      EXPECT_TRUE(std::ranges::equal(rest.dual.entries, whole.dual.entries, [](const auto& a, const auto& b) {
        return a.row == b.row && a.piece == b.piece && a.value == b.value;
      })) << first;
    }
  }
}

TEST(ManyRows, NeedFarLessMemoryThanTheWholeGrid) {
  LearningProblem problem;
  problem.points = Matrix::Zero(1'000'000, 20);
  problem.pieces = 100;
  problem.supervision = Comparisons(100'000, Comparison{0, 1, 0, 2});
  const double bytes = predict_admm_memory(problem);
  EXPECT_GT(bytes, 8 * std::pow(100 * 21, 2)) << "block one alone is a matrix of all unknowns";
  EXPECT_LT(bytes, 0.1 * internal::predict_canonical_memory(problem));
}

}  // namespace
}  // namespace bregmax
