#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "optimize/hard_problems.hpp"
#include "optimize/proof/multiplier_polish.hpp"
#include "oracle/solve.hpp"
#include "oracle/thorough_polish.hpp"

namespace bregmax {
namespace {

using test::Family;

const Family& family_named(std::string_view name) {
  const auto families = test::hard_families();
  const auto found = std::ranges::find(families, name, &Family::name);
  EXPECT_NE(found, families.end()) << name;
  return *found;
}

double unit_of(const LearningProblem& problem, double objective) {
  return std::max(objective, 1e-3 * test::zero_objective(problem));
}

// The two solvers share the canonical form and the certificate, and nothing in between. Neither may prove a bound above
// what the other reaches, however it ended.
void expect_agreement(const LearningProblem& problem, bool both_optimal) {
  const Solution fast = test::solve(problem);
  if (both_optimal) test::expect_optimal(problem, fast);
  if (fast.report.iterations == 0) return;  // the zero model, which is not for the oracle
  const Solution exact = oracle::solve(problem);
  test::expect_optimal(problem, exact);
  const double unit = unit_of(problem, exact.report.objective);
  EXPECT_LE(fast.report.lower_bound, exact.report.objective + 1e-8 * unit) << test::describe(problem);
  EXPECT_LE(exact.report.lower_bound, fast.report.objective + 1e-8 * unit) << test::describe(problem);
  if (both_optimal) {
    EXPECT_NEAR(fast.report.objective, exact.report.objective, 2e-8 * unit) << test::describe(problem);
  }
}

class Oracle : public ::testing::TestWithParam<Family> {};

TEST_P(Oracle, AgreesWithTheFastSolver) {
  for (const test::Kind kind : test::kKinds) {
    for (int seed = 100; seed < 100 + test::repeats(6); ++seed) {
      SCOPED_TRACE(::testing::Message() << to_string(kind) << " seed " << seed);
      Random random(static_cast<std::uint64_t>(seed));
      expect_agreement(GetParam().make(random, kind), GetParam().always_solved);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Oracle, ::testing::ValuesIn(test::hard_families()),
                         [](const auto& family) { return std::string(family.param.name); });

// Features of 1e6, 1 and 1e-6: at these seeds the last ones change the optimum by as much as the rounding of the first,
// and the fast solver ends without a proof at some.
TEST(Oracle, SolvesWhatDoublesAreTooCoarseFor) {
  const Family& mixed = family_named("mixed_features");
  const auto expect_sound_bounds = [&](test::Kind kind, int seed) {
    SCOPED_TRACE(::testing::Message() << to_string(kind) << " seed " << seed);
    Random random(static_cast<std::uint64_t>(seed));
    expect_agreement(mixed.make(random, kind), false);
  };
  for (const int seed : {424, 613, 705, 976, 1777}) expect_sound_bounds(test::Kind::kPairs, seed);
  for (const int seed : {213, 613, 936, 976, 1674, 1939}) expect_sound_bounds(test::Kind::kTargets, seed);
  for (const int seed : {1239, 1717}) expect_sound_bounds(test::Kind::kComparisons, seed);
}

// Whatever multipliers a certificate is given, it proves no bound above the optimum.
TEST(Oracle, HoldsEveryCertificate) {
  Random random(11);
  for (int repeat = 0; repeat < test::repeats(60); ++repeat) {
    const LearningProblem problem = test::random_problem(random, test::kKinds[repeat % 3]);
    Solution solution = test::solve(problem);
    if (solution.report.iterations == 0) continue;
    const double optimum = oracle::solve(problem).report.objective;
    const double noise = std::pow(10, -9 + 9 * random.uniform());
    solution.dual.entries.clear();
    solution.dual.items_low.resize(0);
    for (double& y : solution.dual.convexity.reshaped()) y *= std::max(0.0, 1 + noise * random.normal());
    if (!std::holds_alternative<Targets>(problem.supervision)) {
      for (double& y : solution.dual.items) y *= 1 - std::min(1.0, noise) * random.uniform();
    }
    EXPECT_LE(certify(problem, solution).lower_bound, optimum + 1e-8 * unit_of(problem, optimum))
        << test::describe(problem) << ", noise " << noise;
  }
}

// Without a price the derivatives have to vanish. Multipliers that are tiny and not zero do not balance, as at an
// iterate near to the optimum: the usual steps do not make them balance, a thorough polish leaves them out.
TEST(ThoroughPolish, LeavesOutWhatIsNearlyZero) {
  Random random(5);
  int restored = 0, restored_by_usual = 0;
  for (int repeat = 0; repeat < 9; ++repeat) {
    Matrix points = test::normal_rows(random, 15, 3);
    points.col(0) *= 1e-3;
    points.col(1) *= 1e9;
    points.col(2).array() += 1e4;
    auto supervision = test::random_supervision(random, test::kKinds[repeat % 3], 15, 60);
    const LearningProblem problem = test::make_problem(std::move(points), std::move(supervision), 0);
    Solution solution = oracle::solve(problem);
    test::expect_optimal(problem, solution);
    solution.dual.entries.clear();
    solution.dual.items_low.resize(0);
    for (double& y : solution.dual.convexity.reshaped()) y += 1e-13 * random.uniform();
    const Vector price = Vector::Zero(problem.pieces);
    Solution usual = solution;
    internal::polish_multipliers(problem, price, {}, usual.dual);
    oracle::polish_thoroughly(problem, price, solution.dual);
    restored += certify(problem, solution).relative_gap <= 1e-7 ? 1 : 0;
    restored_by_usual += certify(problem, usual).relative_gap <= 1e-7 ? 1 : 0;
  }
  EXPECT_EQ(restored, 9);
  EXPECT_LT(restored_by_usual, 9);
}

}  // namespace
}  // namespace bregmax
