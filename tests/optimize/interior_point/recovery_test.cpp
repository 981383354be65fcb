#include "optimize/interior_point/recovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "bregmax/core/threads.hpp"
#include "optimize/hard_problems.hpp"
#include "optimize/interior_point/circle.hpp"
#include "optimize/interior_point/interior_point.hpp"
#include "optimize/interior_point/remedies.hpp"
#include "optimize/proof/convex_repair.hpp"

namespace bregmax {
namespace {

using internal::Recovery;
using internal::Remedy;

// What a solver loses, summed over problems.
struct Loss {
  int unsolved = 0;
  int partial = 0;  // there is a price or a bound, and the proof does not hold for every model
  int ties = 0;     // at some row another piece than its own is the largest
  int iterations = 0;
};

Solution solve(const LearningProblem& problem, Recovery& recovery) {
  const ThreadLimit single(1);
  return internal::run_interior_point(problem, {}, {}, {}, recovery);
}

void add(const LearningProblem& problem, const Solution& solution, Loss& sum) {
  const bool priced = problem.lambda > 0 || std::isfinite(problem.lipschitz_bound);
  const double valid = certify(problem, solution).valid_up_to_lipschitz;
  sum.unsolved += solution.report.status == Status::kOptimal ? 0 : 1;
  sum.partial += priced && valid < problem.lipschitz_bound ? 1 : 0;
  sum.ties += internal::ConvexRepair(problem).own_pieces_lead({solution.slopes, solution.offsets}) ? 0 : 1;
  sum.iterations += solution.report.iterations;
}

// Adds the losses with and without the remedy, for a problem that uses it; for others both are the same.
void compare(const LearningProblem& problem, Remedy remedy, Loss& with, Loss& without) {
  Recovery all;
  const Solution solution = solve(problem, all);
  if (all.count(remedy) == 0) return;
  Recovery others;
  others.switch_off(remedy);
  add(problem, solution, with);
  add(problem, solve(problem, others), without);
  EXPECT_EQ(others.count(remedy), 0);
}

struct Case {
  Remedy remedy;
  const char* family;  // where it matters
  int Loss::*loses;    // without it
};

// dual_proximal_near_end is not here: its effect shows only over thousands of problems.
constexpr Case kCases[] = {
    {Remedy::kFreeBound, "few_items_and_no_price", &Loss::iterations},
    {Remedy::kWidenFreeBound, "lambda_zero", &Loss::unsolved},
    {Remedy::kRetryFactorization, "few_items_and_no_price", &Loss::unsolved},
    {Remedy::kStrengthenProximal, "repeated_items", &Loss::iterations},
    {Remedy::kRelaxPrimalProximal, "lambda_1e_minus_8", &Loss::iterations},
    {Remedy::kRelaxDualProximal, "nearly_constant_features", &Loss::iterations},
    {Remedy::kRefineDual, "lambda_1e_minus_8", &Loss::partial},
    {Remedy::kPolishMultipliers, "lambda_1e_minus_8", &Loss::partial},
    {Remedy::kRelaxUnproved, "huge_features", &Loss::iterations},
    {Remedy::kCenter, "few_items_and_no_price", &Loss::ties},
    {Remedy::kMixConvex, "few_items_and_no_price", &Loss::ties},
    {Remedy::kZeroModel, "contradictory_items", &Loss::ties},
};

std::string name_of(Remedy remedy) { return std::string(test::kRemedyInfo[static_cast<std::size_t>(remedy)].name); }

class Recoveries : public ::testing::TestWithParam<Case> {};

TEST_P(Recoveries, LoseMoreWithoutTheRemedy) {
  if (test::kSanitized) GTEST_SKIP() << "needs many problems";
  const auto families = test::hard_families();
  const auto family =
      std::ranges::find(families, std::string_view(GetParam().family), [](const auto& one) { return one.name; });
  ASSERT_NE(family, families.end());
  Loss with, without;
  for (const test::Kind kind : test::kKinds) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Random random(seed);
      compare(family->make(random, kind), GetParam().remedy, with, without);
    }
  }
  EXPECT_EQ(with.unsolved, 0);
  EXPECT_LT(with.*GetParam().loses, without.*GetParam().loses);
}

INSTANTIATE_TEST_SUITE_P(Each, Recoveries, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return name_of(one.param.remedy); });

// Neighbours on a circle are close, and comparisons couple them more strongly than a low-rank update bears.
TEST(Recoveries, LoseMoreWithoutTheDenseFactorization) {
  if (test::kSanitized) GTEST_SKIP() << "takes long";
  Loss with, without;
  for (const double lambda : {0.01, 1.0, 100.0}) {
    compare(test::circle_problem(320, 200, lambda), Remedy::kDenseFactorization, with, without);
  }
  EXPECT_EQ(with.unsolved, 0);
  EXPECT_LT(with.iterations, without.iterations);
}

TEST(Remedies, AreListedInTheirOrderWithNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < internal::kRemedies; ++i) {
    const test::RemedyInfo& info = test::kRemedyInfo[i];
    EXPECT_EQ(static_cast<std::size_t>(info.remedy), i);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
  }
}

}  // namespace
}  // namespace bregmax
