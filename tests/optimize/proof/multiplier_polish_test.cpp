#include "optimize/proof/multiplier_polish.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "optimize/problems.hpp"

namespace bregmax {
namespace {

constexpr double kLambda = 1e-3;

LearningProblem priced_problem(Random& random, test::Kind kind) {
  Matrix points = test::normal_rows(random, 15, 3);
  points.col(1) *= 1e3;
  points.col(2).array() += 1e4;
  auto supervision = test::random_supervision(random, kind, 15, 60);
  return test::make_problem(std::move(points), std::move(supervision), kLambda);
}

template <class Each>
void for_each_term(const LearningProblem& problem, const DualSolution& dual, const Each& each) {
  const auto piece = [&](Index row) { return problem.piece_of[static_cast<std::size_t>(row)]; };
  Index t = 0;
  if (const auto* comparisons = std::get_if<Comparisons>(&problem.supervision)) {
    for (const Comparison& item : *comparisons) {
      each(item.i, piece(item.j), dual.items(t));
      each(item.k, piece(item.l), -dual.items(t++));
    }
  } else if (const auto* pairs = std::get_if<Pairs>(&problem.supervision)) {
    for (const Pair& item : *pairs) each(item.i, piece(item.j), item.similar ? dual.items(t++) : -dual.items(t++));
  } else {
    for (const Target& item : std::get<Targets>(problem.supervision)) each(item.i, piece(item.j), dual.items(t++));
  }
  for (Index i = 0; i < problem.points.rows(); ++i) {
    for (Index k = 0; k < problem.pieces; ++k) each(i, k, -dual.convexity(i, k));
  }
}

// The limits of the derivatives by each piece's slopes: here the derivatives themselves.
Vector prices(const LearningProblem& problem, const DualSolution& dual) {
  const Matrix rows = problem.points.rowwise() - problem.points.colwise().mean();
  Matrix derivative = Matrix::Zero(problem.pieces, problem.points.cols());
  for_each_term(problem, dual, [&](Index row, Index piece, double coefficient) {
    derivative.row(problem.piece_of[static_cast<std::size_t>(row)]) += coefficient * rows.row(row);
    derivative.row(piece) -= coefficient * rows.row(row);
  });
  return derivative.cwiseAbs().rowwise().maxCoeff();
}

TEST(MultiplierPolish, RestoresMultipliersThatWereDisturbed) {
  Random random(1);
  for (int repeat = 0; repeat < 30; ++repeat) {
    const LearningProblem problem = priced_problem(random, test::kKinds[repeat % 3]);
    SCOPED_TRACE(test::describe(problem));
    const Solution best = test::solve_to_optimality(problem);
    Solution disturbed = best;
    disturbed.dual.entries.clear();
    disturbed.dual.items_low.resize(0);
    for (double& y : disturbed.dual.convexity.reshaped()) y *= 1 + 1e-9 * random.normal();
    Solution polished = disturbed;
    internal::polish_multipliers(problem, prices(problem, best.dual), {}, polished.dual);
    const Certificate before = certify(problem, disturbed), after = certify(problem, polished);
    const double damage = before.relative_gap - best.report.relative_gap;
    EXPECT_GT(damage, 1e-9);
    EXPECT_LE(after.relative_gap - best.report.relative_gap, 0.1 * damage);
    EXPECT_GE(after.relative_gap, -1e-8);
    EXPECT_GE(polished.dual.convexity.minCoeff(), 0);
    for (const ConvexityMultiplier& entry : polished.dual.entries) EXPECT_GE(entry.value, 0);
  }
}

TEST(MultiplierPolish, HonoursTheStopFlag) {
  Random random(4);
  const LearningProblem problem = priced_problem(random, test::Kind::kPairs);
  Solution solution = test::solve_to_optimality(problem);
  solution.dual.entries.clear();
  solution.dual.items_low.resize(0);
  solution.dual.convexity *= 1 + 1e-9;
  const DualSolution before = solution.dual;
  std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  internal::polish_multipliers(problem, prices(problem, before), control, solution.dual);
  EXPECT_EQ(solution.dual.items, before.items);
  EXPECT_EQ(solution.dual.convexity, before.convexity);
  EXPECT_TRUE(solution.dual.entries.empty());
  EXPECT_TRUE(solution.dual.items_low.isZero(0));
}

// Whatever it is given, what it makes proves nothing that is not true.
TEST(MultiplierPolish, NeverProvesMoreThanTheOptimum) {
  Random random(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const LearningProblem problem = priced_problem(random, test::kKinds[repeat % 3]);
    const Solution best = test::solve_to_optimality(problem);
    Solution other = best;
    for (double& y : other.dual.convexity.reshaped()) y = random.uniform();
    for (double& y : other.dual.items) y = 2 * random.uniform();
    other.dual.entries.clear();
    const Vector price = Vector::Constant(problem.pieces, kLambda / problem.pieces);
    internal::polish_multipliers(problem, price, {}, other.dual);
    EXPECT_LE(certify(problem, other).lower_bound, best.report.objective * (1 + 1e-8));
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
