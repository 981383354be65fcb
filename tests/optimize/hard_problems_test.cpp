#include "optimize/hard_problems.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bregmax {
namespace {

using test::Family;

class HardProblems : public ::testing::TestWithParam<Family> {};

TEST_P(HardProblems, AreSolvedAndCertifiedOrSaidNotToBe) {
  int count = 0, solved = 0;
  for (const test::Kind kind : test::kKinds) {
    for (int seed = 0; seed < test::repeats(60); ++seed) {
      SCOPED_TRACE(::testing::Message() << to_string(kind) << " seed " << seed);
      Random random(static_cast<std::uint64_t>(seed));
      const LearningProblem problem = GetParam().make(random, kind);
      const Solution solution = test::solve(problem);
      if (GetParam().least_solved == 1) {
        test::expect_optimal(problem, solution);
      } else {
        test::expect_sound(problem, solution);
      }
      EXPECT_LE(solution.report.iterations, 400);
      // Whatever the status, what is proved is true of the zero model, and "optimal" means proved.
      EXPECT_LE(solution.report.dual_objective, test::zero_objective(problem) * (1 + 1e-7));
      const bool optimal = solution.report.status == SolveStatus::kOptimal;
      EXPECT_TRUE(!optimal || std::abs(solution.report.relative_gap) <= 1e-8);
      ++count;
      solved += optimal ? 1 : 0;
    }
  }
  if (!test::kSanitized) {
    EXPECT_GE(solved, GetParam().least_solved * count);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, HardProblems, ::testing::ValuesIn(test::hard_families()),
                         [](const auto& family) { return std::string(family.param.name); });

}  // namespace
}  // namespace bregmax
