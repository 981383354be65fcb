#include "optimize/proof/model_scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

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
    const LearningProblem problem = test::make_problem(std::move(points), test::own_pieces(kRows),
                                                       test::random_supervision(random, test::kKinds[t % 3], kRows, 40),
                                                       t % 5 < 2 ? 0 : 0.5, bound);
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
  EXPECT_GT(inside, 2 * test::repeats(150) / 15);
}

// All margins can be reached: the slope after the last of many is zero, but for rounding, or a tiny lambda.
TEST(BestScale, GoesToTheLastMarginThatCosts) {
  Random random(2);
  for (int t = 0; t < test::repeats(100); ++t) {
    const Index rows = 10 + random.uniform_index(40);
    Matrix points = test::normal_rows(random, rows, 2);
    AffinePieces pieces{points, -0.5 * points.rowwise().squaredNorm()};
    Comparisons comparisons;
    double least = std::numeric_limits<double>::infinity();
    while (comparisons.size() < 200) {
      const Index i = random.uniform_index(rows), j = random.uniform_index(rows), k = random.uniform_index(rows);
      const double gain =
          0.5 * ((points.row(i) - points.row(k)).squaredNorm() - (points.row(i) - points.row(j)).squaredNorm());
      if (gain < 0.01) continue;
      comparisons.push_back({i, j, i, k, 1 + random.uniform()});
      least = std::min(least, gain);
    }
    const LearningProblem problem =
        test::make_problem(std::move(points), test::own_pieces(rows), std::move(comparisons), t % 2 == 0 ? 0 : 1e-14);
    EXPECT_NEAR(internal::best_scale(problem, pieces), 1 / least, 1e-6 / least);
  }
}

}  // namespace
}  // namespace bregmax
