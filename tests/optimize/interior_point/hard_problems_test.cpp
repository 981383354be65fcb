#include "optimize/hard_problems.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "optimize/proof/termination.hpp"

namespace bregmax {
namespace {

using test::Family;

class HardProblems : public ::testing::TestWithParam<Family> {};

// count_unsolved looks at thousands of each. What is not solved has to say so, with a bound and a model that are sound;
// tests/oracle holds the bound against the optimum.
TEST_P(HardProblems, AreSolvedAndCertified) {
  for (const test::Kind kind : test::kKinds) {
    for (int seed = 0; seed < test::repeats(60); ++seed) {
      SCOPED_TRACE(::testing::Message() << to_string(kind) << " seed " << seed);
      Random random(static_cast<std::uint64_t>(seed));
      const LearningProblem problem = GetParam().make(random, kind);
      const Solution solution = test::solve(problem);
      const SolveReport& report = solution.report;
      if (GetParam().always_solved || report.status == Status::kOptimal) {
        test::expect_optimal(problem, solution);
      } else {
        test::expect_sound(problem, solution);
        const bool used_up = report.iterations == InteriorPointOptions().max_iterations;
        EXPECT_EQ(to_string(report.status), to_string(used_up ? Status::kIterationLimit : Status::kNumericalError));
        EXPECT_TRUE(std::abs(report.relative_gap) > 1e-8 ||
                    report.convexity_violation > internal::kFeasible * test::divergence_scale(problem, solution))
            << "what is proved is optimal";
      }
      EXPECT_LE(report.lower_bound, test::zero_objective(problem) * (1 + 1e-7));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, HardProblems, ::testing::ValuesIn(test::hard_families()),
                         [](const auto& family) { return std::string(family.param.name); });

}  // namespace
}  // namespace bregmax
