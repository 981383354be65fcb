#include "optimize/hard_problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace bregmax {
namespace {

using test::Family;

class HardProblems : public ::testing::TestWithParam<Family> {};

// count_unsolved looks at thousands of each.
TEST_P(HardProblems, AreSolvedAndCertified) {
  for (const test::Kind kind : test::kKinds) {
    for (int seed = 0; seed < test::repeats(60); ++seed) {
      SCOPED_TRACE(::testing::Message() << to_string(kind) << " seed " << seed);
      Random random(static_cast<std::uint64_t>(seed));
      const LearningProblem problem = GetParam().make(random, kind);
      const Solution solution = test::solve(problem);
      test::expect_optimal(problem, solution);
      EXPECT_LE(solution.report.iterations, 400);
      EXPECT_LE(solution.report.lower_bound, test::zero_objective(problem) * (1 + 1e-7));
    }
  }
}

// Seeds that doubles are too coarse for: they take the third try.
TEST(HardSeeds, ThatNeedMoreDigitsAreSolved) {
  const auto families = test::hard_families();
  const auto mixed = std::find_if(families.begin(), families.end(), [](const Family& family) {
    return std::string_view(family.name) == "mixed_features";
  });
  ASSERT_NE(mixed, families.end());
  int most_iterations = 0;
  const auto expect_solved = [&](test::Kind kind, int seed) {
    SCOPED_TRACE(::testing::Message() << to_string(kind) << " seed " << seed);
    Random random(static_cast<std::uint64_t>(seed));
    const LearningProblem problem = mixed->make(random, kind);
    const Solution solution = test::solve(problem);
    test::expect_optimal(problem, solution);
    most_iterations = std::max(most_iterations, solution.report.iterations);
  };
  for (const int seed : {424, 613, 705, 976, 1777}) expect_solved(test::Kind::kPairs, seed);
  for (const int seed : {213, 613, 936, 976, 1674, 1939}) expect_solved(test::Kind::kTargets, seed);
  for (const int seed : {1239, 1717}) expect_solved(test::Kind::kComparisons, seed);
  EXPECT_GT(most_iterations, InteriorPointOptions{}.max_iterations / 2) << "what the first two tries share";
}

INSTANTIATE_TEST_SUITE_P(Families, HardProblems, ::testing::ValuesIn(test::hard_families()),
                         [](const auto& family) { return std::string(family.param.name); });

}  // namespace
}  // namespace bregmax
