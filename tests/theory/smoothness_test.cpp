#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "theory/cases.hpp"
#include "theory/coordinate_generator.hpp"
#include "theory/placement.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

// Steps of a given length from every row along every sign vector, as pairs of rows.
struct Steps {
  Matrix from, to;
};
Steps along_all_signs(const Matrix& starts, double length) {
  const Matrix signs = internal::lattice_points({Vector::Zero(starts.cols()), 1}, 2);
  Steps steps{Matrix(starts.rows() * signs.rows(), starts.cols()), {}};
  for (Index r = 0; r < steps.from.rows(); ++r) steps.from.row(r) = starts.row(r / signs.rows());
  steps.to = steps.from;
  for (Index r = 0; r < steps.to.rows(); ++r) steps.to.row(r) += length * signs.row(r % signs.rows());
  return steps;
}

// Searches for the largest ||grad phi(u) - grad phi(v)||_1 / ||u - v||_inf: by short steps along sign vectors, which
// measure the Hessian, from random points and from the corners, and by pairs of random points.
double smoothness_found(const Divergence& divergence, const Box& box, Random& random) {
  const internal::CoordinateGenerator generator(divergence, box.dimension());
  const auto largest = [&](const Matrix& from, const Matrix& to) {
    const Vector change = (generator.gradients(to) - generator.gradients(from)).rowwise().lpNorm<1>();
    const Vector distance = (to - from).rowwise().lpNorm<Eigen::Infinity>();
    return change.cwiseQuotient(distance).maxCoeff();
  };
  const Box inner{box.center, box.radius * (1 - 1e-4)};
  Matrix starts = internal::random_points(inner, 20, random);
  const Matrix corners = internal::lattice_points(inner, 2);
  starts.conservativeResize(20 + corners.rows(), Eigen::NoChange);
  starts.bottomRows(corners.rows()) = corners;
  const Steps steps = along_all_signs(starts, 1e-4 * box.radius);
  return std::max(largest(steps.from, steps.to),
                  largest(internal::random_points(box, 200, random), internal::random_points(box, 200, random)));
}

class SmoothnessOf : public ::testing::TestWithParam<GeneratorCase> {};

TEST_P(SmoothnessOf, IsNeverExceededOnRandomBoxes) {
  Random random(11);
  for (int trial = 0; trial < 50; ++trial) {
    const Index dimension = GetParam().dimensions[static_cast<std::size_t>(trial) % GetParam().dimensions.size()];
    const auto divergence = GetParam().divergence(dimension, random);
    const Box box = GetParam().random_box(dimension, random);
    const double beta = smoothness(*divergence, box);
    const double found = smoothness_found(*divergence, box, random);
    EXPECT_LE(found, beta * (1 + 1e-6)) << "dimension " << dimension << ", radius " << box.radius;
    if (GetParam().exact) {
      EXPECT_GE(found, 0.99 * beta) << "dimension " << dimension << ", radius " << box.radius;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryGenerator, SmoothnessOf, ::testing::ValuesIn(generator_cases()),
                         [](const auto& each) { return each.param.label; });

TEST(Smoothness, HasTheValuesWorkedOutByHand) {
  EXPECT_DOUBLE_EQ(smoothness(*make_closed_form("squared_euclidean"), {Vector::Zero(3), 2}), 6);
  EXPECT_NEAR(smoothness(*make_closed_form("i_divergence"), {Vector::Constant(2, 0.6), 0.5}), 2 / 0.1, 1e-12);
  EXPECT_NEAR(smoothness(*make_closed_form("itakura_saito"), {Vector::Constant(2, 0.6), 0.5}), 2 / 0.01, 1e-10);
  EXPECT_NEAR(smoothness(*make_closed_form("exponential"), {Vector::Zero(2), 1}), 2 * std::exp(1.0), 1e-12);
  // One coordinate: 1/u + 1/(1-u) = 1/(u (1-u)), largest at the ends of [0.2, 0.6].
  EXPECT_NEAR(smoothness(*make_closed_form("kl"), {Vector::Constant(1, 0.4), 0.2}), 1 / (0.2 * 0.8), 1e-12);
  // I + 0.5 * 11^T in two dimensions: s = (1, 1) gives 2 + 0.5 * 4.
  const Mahalanobis mahalanobis(Matrix::Identity(2, 2) + 0.5 * Matrix::Ones(2, 2));
  EXPECT_NEAR(smoothness(mahalanobis, {Vector::Zero(2), 1}), 8, 1e-12);
  // One entry: -log x on [1/2, 3/2], where the bound is the exact 1/x^2.
  EXPECT_NEAR(smoothness(*make_closed_form("logdet"), {Vector::Ones(1), 0.5}), 4, 1e-12);
}

TEST(Smoothness, OfManyFeaturesIsBoundedWithoutTryingAllSigns) {
  const Index features = 25;
  const Mahalanobis diagonal(Matrix(Vector::LinSpaced(features, 1, 2).asDiagonal()));
  EXPECT_NEAR(smoothness(diagonal, {Vector::Zero(features), 1}), 2 * 1.5 * 25, 1e-9);
}

TEST(Smoothness, OfAMaxAffineGeneratorIsInfinite) {
  const auto two = make_max_affine(Matrix{{1, 0}, {0, 1}}, Vector::Zero(2), 0);
  EXPECT_TRUE(std::isinf(smoothness(*two, {Vector::Zero(2), 1})));
  const auto one = make_max_affine(Matrix{{1, 0}}, Vector::Zero(1), 0);
  EXPECT_EQ(smoothness(*one, {Vector::Zero(2), 1}), 0);
}

std::string refusal(const std::string& generator, const Box& box) {
  try {
    smoothness(*make_closed_form(generator), box);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Smoothness, RefusesBoxesOutsideOfTheDomain) {
  EXPECT_THAT(refusal("i_divergence", {Vector::Ones(2), 1}), HasSubstr("every coordinate is > 0"));
  EXPECT_THAT(refusal("itakura_saito", {Vector::Ones(2), 1.5}), HasSubstr("every coordinate is > 0"));
  EXPECT_THAT(refusal("kl", {Vector::Constant(2, 0.4), 0.1}), HasSubstr("sum to less than 1"));
  EXPECT_THAT(refusal("kl", {Vector::Constant(2, 0.1), 0.1}), HasSubstr("every coordinate is > 0"));
  EXPECT_THAT(refusal("exponential", {Vector::Constant(1, 300), 1}), HasSubstr("at most 300"));
  EXPECT_THAT(refusal("logdet", {Vector{{1, 0, 1}}, 0.5}), HasSubstr("positive definite"));
  EXPECT_THAT(refusal("logdet", {Vector::Ones(2), 0.1}), HasSubstr("1, 3, 6, 10"));
  EXPECT_THAT(refusal("squared_euclidean", {Vector::Ones(2), 0}), HasSubstr("radius of the box is 0"));
  EXPECT_THAT(refusal("squared_euclidean", {Vector(), 1}), HasSubstr("center of the box is empty"));
  EXPECT_THAT(refusal("squared_euclidean", {Vector::Constant(1, NAN), 1}), HasSubstr("not finite"));
}

TEST(DefaultBox, LiesInsideTheDomainOfEveryGenerator) {
  Random random(1);
  for (const GeneratorCase& each : generator_cases()) {
    for (const Index dimension : each.dimensions) {
      const auto divergence = each.divergence(dimension, random);
      const Box box = default_box(*divergence, dimension);
      EXPECT_GT(smoothness(*divergence, box), 0) << each.label;
    }
  }
}

TEST(DefaultBox, RefusesAnotherNumberOfFeatures) {
  EXPECT_THROW(default_box(Mahalanobis(Matrix::Identity(2, 2)), 3), Error);
  EXPECT_THROW(default_box(*make_closed_form("kl"), 0), Error);
}

}  // namespace
}  // namespace bregmax::testing
