#include "bregmax/divergence/feature_norms.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/network_embedding.hpp"

namespace bregmax {
namespace {

Matrix slopes() {
  Matrix slopes(2, 3);
  slopes << 5, 1, 0, 5, 4, 8;  // less their mean: (0, -1.5, -4) and (0, 1.5, 4)
  return slopes;
}

void expect_norms(const Divergence& divergence, const std::vector<double>& expected) {
  const auto norms = feature_norms(divergence);
  ASSERT_TRUE(norms.has_value()) << divergence.name();
  ASSERT_EQ(norms->size(), std::ssize(expected));
  for (Index f = 0; f < norms->size(); ++f) EXPECT_NEAR((*norms)(f), expected[f], 1e-14) << divergence.name();
}

TEST(FeatureNorms, AreThoseOfTheColumnsThatReadAFeature) {
  const double root = std::sqrt(2.0);
  expect_norms(*make_max_affine(slopes(), Vector::Zero(2), 0), {0, 1.5 * root, 4 * root});
  expect_norms(*make_max_affine(slopes(), Vector::Zero(2), 0.5), {0, 1.5 * root, 4 * root});
  Matrix roots(1, 3);
  roots << 3, 0, 2;
  expect_norms(LogSumExpQuadratic(slopes(), Vector::Zero(2), 1, roots), {3, 1.5 * root, 6});
  expect_norms(Mahalanobis(roots.transpose() * roots), {3, 0, 2});
  Matrix weights(2, 3);
  weights << 3, 0, 1, 4, 0, 0;
  expect_norms(NetworkEmbedding({{weights, Vector::Zero(2)}}, Activation::kRelu, std::make_shared<SquaredEuclidean>()),
               {5, 0, 1});
}

TEST(FeatureNorms, AreUnknownForDivergencesWithoutColumns) {
  EXPECT_FALSE(feature_norms(SquaredEuclidean()).has_value());
}

}  // namespace
}  // namespace bregmax
