#include <gmock/gmock.h>

#include "bregmax/core/error.hpp"
#include "bregmax/theory/approximate.hpp"
#include "theory/cases.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

class SweepOf : public ::testing::TestWithParam<GeneratorCase> {};

TEST_P(SweepOf, HasTheExponentsOfTheTheoremOrBetter) {
  Random random(31);
  for (const Index dimension : GetParam().dimensions) {
    if (dimension > 2) continue;
    const auto divergence = GetParam().divergence(dimension, random);
    const Box box = GetParam().random_box(dimension, random);
    ApproximationOptions options;
    options.pieces = dimension == 1 ? 128 : 40 * 40;
    options.samples = 2000;
    const Sweep sweep = sweep_approximation(*divergence, box, options);
    EXPECT_LE(sweep.exponents.value, sweep.theoretic_exponents.value + 0.2) << dimension;
    EXPECT_LE(sweep.exponents.gradient, sweep.theoretic_exponents.gradient + 0.2) << dimension;
    EXPECT_LE(sweep.exponents.divergence, sweep.theoretic_exponents.divergence + 0.2) << dimension;
    for (const Approximation& step : sweep.steps) {
      EXPECT_LE(step.measured.value, step.bounds.value);
      EXPECT_LE(step.measured.gradient, step.bounds.gradient);
      EXPECT_LE(step.measured.divergence, step.bounds.divergence);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryGenerator, SweepOf, ::testing::ValuesIn(generator_cases()),
                         [](const auto& each) { return each.param.label; });

// The square has the same error in every cell, so its exponents are those of the theorem to many digits.
TEST(Sweep, OfTheSquareHasExactlyTheExponents) {
  const Sweep sweep =
      sweep_approximation(*make_closed_form("squared_euclidean"), {Vector::Zero(2), 1}, {.pieces = 1024});
  ASSERT_GE(sweep.steps.size(), 6u);
  EXPECT_EQ(sweep.pieces.front(), 64);
  EXPECT_EQ(sweep.pieces.back(), 1024);
  EXPECT_NEAR(sweep.exponents.value, -1, 1e-6);
  EXPECT_NEAR(sweep.exponents.gradient, -0.5, 1e-6);
  EXPECT_NEAR(sweep.exponents.divergence, -0.5, 0.05);
}

TEST(Sweep, InThreeDimensionsStillFallsWithK) {
  const Sweep sweep = sweep_approximation(*make_closed_form("exponential"), {Vector::Zero(3), 1},
                                          {.pieces = 12 * 12 * 12, .samples = 1500});
  EXPECT_LE(sweep.exponents.value, -2.0 / 3 + 0.2);
  EXPECT_LE(sweep.exponents.gradient, -1.0 / 3 + 0.2);
}

TEST(Sweep, RefusesARangeThatIsTooShort) {
  try {
    sweep_approximation(*make_closed_form("squared_euclidean"), {Vector::Zero(2), 1}, {.pieces = 143});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("needs at least 144 = 12^2"));
  }
}

TEST(FittedExponent, IsTheSlopeInLogarithms) {
  EXPECT_NEAR(fitted_exponent({1, 10, 100}, {5, 0.5, 0.05}), -1, 1e-12);
  EXPECT_NEAR(fitted_exponent({2, 8}, {3, 3 * std::pow(4, 0.3)}), 0.3, 1e-12);
  // Least squares by hand: x = 0, 1, 2 and y = 0, 1, 0 in logarithms have slope 0.
  const double e = std::exp(1.0);
  EXPECT_NEAR(fitted_exponent({1, e, e * e}, {1, e, 1}), 0, 1e-12);
  EXPECT_THROW(fitted_exponent({1}, {1}), Error);
  EXPECT_THROW(fitted_exponent({1, 2}, {1}), Error);
  EXPECT_THROW(fitted_exponent({1, 1}, {1, 2}), Error);
  EXPECT_THROW(fitted_exponent({1, 2}, {0, 2}), Error);
}

}  // namespace
}  // namespace bregmax::testing
