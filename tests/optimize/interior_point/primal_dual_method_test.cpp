#include "optimize/interior_point/primal_dual_method.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "optimize/problems.hpp"

namespace bregmax::internal {
namespace {

// With a piece for every row the start meets every equation between model and slacks. Steps along directions that do,
// up to their proximal term, keep it so, whatever was added to them: a correction that reaches one of the unknowns and
// not its slacks does not.
TEST(PrimalDualMethod, KeepsModelAndSlacksTogether) {
  constexpr Index kRows = 30;
  constexpr int kIterations = 12;
  for (const test::Kind kind : {test::Kind::kPairs, test::Kind::kComparisons}) {
    Random random(3);
    Matrix points = test::normal_rows(random, kRows, 4);
    Supervision items = test::random_supervision(random, kind, kRows, 600);
    const CanonicalProblem problem =
        canonicalize(test::make_problem(std::move(points), test::own_pieces(kRows), std::move(items), 0.1));
    Recovery recovery;
    const InteriorPointSettings settings;
    PrimalDualMethod method(problem, settings, recovery);
    method.start();
    double first_dual_residual = 0;
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      const IterateMeasures& now = method.measure();
      if (iteration == 0) first_dual_residual = now.dual_residual;
      ASSERT_LT(now.primal_residual, 1e-4) << "iteration " << iteration;
      ASSERT_TRUE(method.advance(0, std::abs(now.primal)));
    }
    EXPECT_LT(method.measure().dual_residual, 1e-2 * first_dual_residual);
  }
}

}  // namespace
}  // namespace bregmax::internal
