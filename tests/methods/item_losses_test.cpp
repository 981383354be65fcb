#include "methods/item_losses.hpp"

#include <gtest/gtest.h>

#include "bregmax/core/random.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/network_embedding.hpp"

namespace bregmax::internal {
namespace {

Matrix normal(Index rows, Index cols, Random& random) {
  Matrix out(rows, cols);
  for (double& value : out.reshaped()) value = random.normal();
  return out;
}

// Few items of many rows: only the rows that they name are embedded.
TEST(ItemLosses, OfAnEmbeddingAreThoseOfItsValues) {
  Random random(1);
  const auto inner = std::make_shared<SquaredEuclidean>();
  const NetworkEmbedding network({{normal(4, 3, random), Vector::Zero(4)}, {normal(2, 4, random), Vector::Zero(2)}},
                                 Activation::kTanh, inner);
  const Matrix rows = normal(200, 3, random);
  Comparisons comparisons;
  double loss = 0, weight = 0, held = 0;
  for (Index t = 0; t < 20; ++t) {
    const Comparison c{199 - t, 7 * t, 199 - t, 3 * t + 41, 1.0 + static_cast<double>(t)};
    comparisons.push_back(c);
    const double near = network.value(rows.row(c.i).transpose(), rows.row(c.j).transpose());
    const double far = network.value(rows.row(c.k).transpose(), rows.row(c.l).transpose());
    loss += c.weight * std::max(0.0, 1 + near - far);
    weight += c.weight;
    held += near < far ? c.weight : 0;
  }
  ASSERT_GT(held, 0);
  ASSERT_LT(held, weight);
  const LossSum sum = sum_losses(network, rows, comparisons);
  EXPECT_NEAR(sum.loss, loss, 1e-12 * loss);
  EXPECT_EQ(sum.weight, weight);
  EXPECT_NEAR(agreement(network, rows, comparisons), held / weight, 1e-12);
}

}  // namespace
}  // namespace bregmax::internal
