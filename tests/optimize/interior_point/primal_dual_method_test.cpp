#include "optimize/interior_point/primal_dual_method.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "optimize/problems.hpp"

namespace bregmax::internal {
namespace {

CanonicalProblem small_problem(test::Kind kind, Index rows = 30) {
  Random random(3);
  Matrix points = test::normal_rows(random, rows, 4);
  Supervision items = test::random_supervision(random, kind, rows, 20 * rows);
  return canonicalize(test::make_problem(std::move(points), test::own_pieces(rows), std::move(items), 0.1));
}

// With one piece per row the start satisfies the equations that tie slacks to the model. Newton steps keep them
// satisfied, up to the proximal term; a corrector that changes the model without changing its slacks would break them.
TEST(PrimalDualMethod, PrimalResidualStaysSmall) {
  constexpr int kIterations = 12;
  for (const test::Kind kind : {test::Kind::kPairs, test::Kind::kComparisons}) {
    const CanonicalProblem problem = small_problem(kind);
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

// The Newton system at the first iterate.
struct StartedSystem {
  explicit StartedSystem(test::Kind kind) : problem(small_problem(kind)) {
    iterate.start();
    iterate.measure();
  }

  CanonicalProblem problem;
  Recovery recovery = {};
  InteriorPointSettings settings = {};
  Iterate iterate{problem, settings, recovery};
  NewtonSystem newton{iterate, settings, recovery};
};

// The run then ends with the last finite iterate.
TEST(NewtonSystem, DoesNotTakeADirectionThatIsNotFinite) {
  for (const test::Kind kind : test::kKinds) {
    StartedSystem system(kind);
    Iterate& iterate = system.iterate;
    NewtonSystem& newton = system.newton;
    ASSERT_TRUE(newton.factor(1e-8));
    for (Cone* cone : iterate.cones) aim_at(iterate.measures.mu, cone->rows());
    newton.solve_direction();
    newton.accept();
    const Vector x = iterate.value.x, slacks = iterate.convexity.s;
    for (double* broken : {&newton.accepted.x(0), &newton.accepted.t(1), &iterate.convexity.ds_accepted(1),
                           &iterate.norm.dy_accepted(2)}) {
      const double sound = std::exchange(*broken, std::numeric_limits<double>::quiet_NaN());
      EXPECT_FALSE(newton.move(0.1, 0.1));
      EXPECT_EQ(iterate.value.x, x);
      EXPECT_EQ(iterate.convexity.s, slacks);
      *broken = sound;
    }
    EXPECT_TRUE(newton.move(0.1, 0.1));
    EXPECT_NE(iterate.value.x, x);
  }
}

// Negative weights are far beyond what a larger proximal term can outweigh.
TEST(NewtonSystem, CountsOnlyTheRetriesThatItMakes) {
  StartedSystem system(test::Kind::kPairs);
  ASSERT_TRUE(system.newton.factor(1e-8));
  EXPECT_EQ(system.recovery.count(Remedy::kRetryFactorization), 0);
  system.iterate.convexity.y.setConstant(-1e6);
  EXPECT_FALSE(system.newton.factor(1e-8));
  EXPECT_EQ(system.recovery.count(Remedy::kRetryFactorization), system.settings.factor_attempts - 1);
}

}  // namespace
}  // namespace bregmax::internal
