#include "optimize/multiplier_polish.hpp"

#include <gtest/gtest.h>

#include "optimize/problems.hpp"

namespace bregmax {
namespace {

// What the derivatives by each piece's slopes have to stay within: here just what they are.
Vector prices(const LearningProblem& problem, const Solution& solution) {
  Matrix derivative = Matrix::Zero(problem.pieces, problem.points.cols());
  const auto add = [&](Index row, Index piece, double coefficient) {
    derivative.row(problem.piece_of[static_cast<std::size_t>(row)]) += coefficient * problem.points.row(row);
    derivative.row(piece) -= coefficient * problem.points.row(row);
  };
  Index t = 0;
  for (const Comparison& item : std::get<Comparisons>(problem.supervision)) {
    add(item.i, problem.piece_of[static_cast<std::size_t>(item.j)], solution.dual.items(t));
    add(item.k, problem.piece_of[static_cast<std::size_t>(item.l)], -solution.dual.items(t));
    ++t;
  }
  for (Index i = 0; i < problem.points.rows(); ++i) {
    for (Index k = 0; k < problem.pieces; ++k) add(i, k, -solution.dual.convexity(i, k));
  }
  return derivative.cwiseAbs().rowwise().maxCoeff();
}

constexpr double kLambda = 1e-3;

LearningProblem triplets(Random& random) {
  Matrix points = test::normal_rows(random, 15, 3);
  auto supervision = test::random_supervision(random, test::Kind::kComparisons, 15, 60);
  return test::make_problem(std::move(points), std::move(supervision), kLambda);
}

TEST(MultiplierPolish, RestoresMultipliersThatWereDisturbed) {
  Random random(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const LearningProblem problem = triplets(random);
    const Solution best = test::solve_to_optimality(problem);
    Solution disturbed = best;
    for (double& y : disturbed.dual.convexity.reshaped()) y *= 1 + 1e-9 * random.normal();
    Solution polished = disturbed;
    internal::polish_multipliers(problem, prices(problem, best), polished.dual);
    const Certificate before = certify(problem, disturbed), after = certify(problem, polished);
    const double damage = before.relative_gap - best.report.relative_gap;
    EXPECT_GT(damage, 1e-9);
    EXPECT_LE(after.relative_gap - best.report.relative_gap, 0.1 * damage);
    EXPECT_GE(after.relative_gap, -1e-8);
    EXPECT_GE(polished.dual.convexity.minCoeff(), 0);
    for (const ConvexityMultiplier& entry : polished.dual.entries) EXPECT_GE(entry.value, 0);
  }
}

// Whatever it is given, what it makes proves nothing that is not true.
TEST(MultiplierPolish, NeverProvesMoreThanTheOptimum) {
  Random random(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const LearningProblem problem = triplets(random);
    const Solution best = test::solve_to_optimality(problem);
    Solution other = best;
    for (double& y : other.dual.convexity.reshaped()) y = random.uniform();
    for (double& y : other.dual.items) y = 2 * random.uniform();
    internal::polish_multipliers(problem, Vector::Constant(problem.pieces, kLambda / problem.pieces), other.dual);
    EXPECT_LE(certify(problem, other).dual_objective, best.report.objective * (1 + 1e-8));
  }
}

TEST(MultiplierPolish, IsForWhatCanBeFactoredQuickly) {
  Random random(3);
  const auto possible = [&](Index rows) {
    return internal::can_polish(test::make_problem(test::normal_rows(random, rows, 4), Pairs{{0, 1, false}}, 1));
  };
  EXPECT_TRUE(possible(400));
  EXPECT_FALSE(possible(600));
}

}  // namespace
}  // namespace bregmax
