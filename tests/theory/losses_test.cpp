#include <gtest/gtest.h>

#include "bregmax/core/error.hpp"
#include "bregmax/theory/bounds.hpp"
#include "contract/divergence_cases.hpp"

namespace bregmax::testing {
namespace {

TEST(ComparisonLosses, AgreeWithTheirDefinitions) {
  Random random(5);
  for (const auto& divergence : {make_closed_form("squared_euclidean"), random_pieces(3, 6, 2, 0)}) {
    const Matrix rows = normal_rows(random, 12, 2);
    Comparisons comparisons;
    for (int t = 0; t < 200; ++t) {
      comparisons.push_back(
          {random.uniform_index(12), random.uniform_index(12), random.uniform_index(12), random.uniform_index(12)});
    }
    double hinge = 0, ramp = 0, error = 0;
    for (const Comparison& each : comparisons) {
      const double near = divergence->value(rows.row(each.i), rows.row(each.j));
      const double far = divergence->value(rows.row(each.k), rows.row(each.l));
      hinge += std::max(0.0, 1 + near - far);
      ramp += std::min(1.0, std::max(0.0, 1 + near - far));
      error += near >= far ? 1 : 0;
    }
    const ComparisonLosses losses = comparison_losses(*divergence, rows, comparisons);
    EXPECT_NEAR(losses.hinge, hinge / 200, 1e-12);
    EXPECT_NEAR(losses.ramp, ramp / 200, 1e-12);
    EXPECT_DOUBLE_EQ(losses.error, error / 200);
    EXPECT_LE(losses.error, losses.ramp + 1e-15);
    EXPECT_LE(losses.ramp, losses.hinge + 1e-15);
  }
}

TEST(ComparisonLosses, CountATieAsAnError) {
  const Matrix rows{{0.0}, {1.0}, {-1.0}};
  const ComparisonLosses losses = comparison_losses(*make_closed_form("squared_euclidean"), rows, {{0, 1, 0, 2}});
  EXPECT_EQ(losses.error, 1);
  EXPECT_EQ(losses.ramp, 1);
}

TEST(SquaredLoss, IsTheMeanSquare) {
  const Matrix rows{{0.0}, {1.0}, {3.0}};
  EXPECT_DOUBLE_EQ(squared_loss(*make_closed_form("squared_euclidean"), rows, {{0, 1, 2}, {1, 2, 3}}), (1 + 1) / 2.0);
}

TEST(LossesBadInput, DetectNoItemsAndRowNumbersOutOfRange) {
  const auto divergence = make_closed_form("squared_euclidean");
  const Matrix rows{{0.0}, {1.0}};
  EXPECT_THROW(comparison_losses(*divergence, rows, {}), Error);
  EXPECT_THROW(comparison_losses(*divergence, rows, {{0, 1, 0, 2}}), Error);
  EXPECT_THROW(squared_loss(*divergence, rows, {}), Error);
  EXPECT_THROW(squared_loss(*divergence, rows, {{-1, 1, 0}}), Error);
}

}  // namespace
}  // namespace bregmax::testing
