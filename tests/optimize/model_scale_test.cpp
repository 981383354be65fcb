#include "optimize/model_scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bregmax/optimize/certificate.hpp"
#include "optimize/problems.hpp"

namespace bregmax {
namespace {

double objective_at(const LearningProblem& problem, const AffinePieces& pieces, double scale) {
  Solution solution;
  solution.slopes = scale * pieces.slopes;
  solution.offsets = scale * pieces.offsets;
  return certify(problem, solution).objective;
}

// The objective is convex along the ray, so what is lowest among its neighbours is lowest.
TEST(BestScale, IsTheLowestOnItsRay) {
  constexpr Index kRows = 12;
  Random random(1);
  int inside = 0;
  for (int t = 0; t < test::repeats(150); ++t) {
    Matrix points = test::normal_rows(random, kRows, 2);
    // Tangents of a random quadratic: a convex model.
    AffinePieces pieces{points * (0.1 + 3 * random.uniform()), Vector::Zero(kRows)};
    pieces.offsets = -0.5 * points.cwiseProduct(pieces.slopes).rowwise().sum();
    const double lipschitz = pieces.slopes.cwiseAbs().rowwise().sum().maxCoeff();
    const double bound = t % 4 == 3 ? 0.5 * lipschitz : test::kNoBound;
    const LearningProblem problem =
        test::make_problem(std::move(points), test::own_pieces(kRows),
                           test::random_supervision(random, test::kKinds[t % 3], kRows, 40), 0.5, bound);
    const double scale = internal::best_scale(problem, pieces), best = objective_at(problem, pieces, scale);
    ASSERT_GE(scale, 0);
    EXPECT_LE(scale * lipschitz, problem.lipschitz_bound * (1 + 1e-12));
    const double most = std::min(2 * scale + 1, problem.lipschitz_bound / lipschitz);
    for (const double other : {0.0, 0.5 * scale, 0.999 * scale, 1.001 * scale, 2 * scale, most}) {
      if (other > most) continue;
      EXPECT_LE(best, objective_at(problem, pieces, other) * (1 + 1e-12)) << scale << " against " << other;
    }
    if (scale > 0 && scale < most) ++inside;
  }
  EXPECT_GT(inside, 20);
}

}  // namespace
}  // namespace bregmax
