#include "optimize/gradient/loops.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bregmax/core/random.hpp"

namespace bregmax::internal {
namespace {

template <class Real>
class Loops : public testing::Test {
 public:
  static constexpr double kRounding = sizeof(Real) == 4 ? 3e-7 : 1e-15;
  static std::vector<Real> numbers(Index count, double scale) {
    Random random(static_cast<std::uint64_t>(count));
    std::vector<Real> values(static_cast<std::size_t>(count));
    for (Real& value : values) value = static_cast<Real>(scale * random.normal());
    return values;
  }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Loops, Reals);

TYPED_TEST(Loops, ExponentialsAreThoseOfTheStandardLibrary) {
  for (const Index count : {0, 1, 7, 8, 16, 33, 100}) {
    std::vector<TypeParam> values = this->numbers(count, 6);
    const TypeParam most = largest(count, values.data());
    std::vector<double> expected;
    double sum = 0;
    for (const TypeParam value : values) {
      EXPECT_LE(value, most);
      expected.push_back(std::exp(static_cast<double>(value) - most));
      sum += expected.back();
    }
    EXPECT_NEAR(exponentials(most, count, values.data()), sum, 4 * this->kRounding * sum);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i], 16 * this->kRounding * expected[i] + 1e-19) << i;
    }
  }
}

TYPED_TEST(Loops, ExponentialsOfFarNumbersAreZero) {
  std::vector<TypeParam> values(20, static_cast<TypeParam>(-1e30));
  values[3] = 5;
  EXPECT_EQ(exponentials(TypeParam(5), 20, values.data()), TypeParam(1));
  EXPECT_EQ(values[0], TypeParam(0));
  EXPECT_EQ(values[19], TypeParam(0));
}

TYPED_TEST(Loops, DotsAreSumsOfProducts) {
  for (const Index count : {0, 1, 15, 16, 17, 64}) {
    const std::vector<TypeParam> x = this->numbers(count, 1), y = this->numbers(count, 2);
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += static_cast<double>(x[i]) * y[i];
      size += std::abs(static_cast<double>(x[i]) * y[i]);
    }
    EXPECT_NEAR(dot(count, x.data(), y.data()), sum, 10 * this->kRounding * size + 1e-300);
  }
}

TYPED_TEST(Loops, NumbersAreClearedWhereTheOthersAreNotPositive) {
  for (const Index count : {0, 1, 8, 35}) {
    std::vector<TypeParam> x = this->numbers(count, 1);
    if (count > 0) x[0] = 0;
    std::vector<TypeParam> y = this->numbers(count + 1, 1), before = y;
    clear_where_not_positive(count, x.data(), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], x[i] > 0 ? before[i] : TypeParam(0)) << i;
    EXPECT_EQ(y.back(), before.back());
  }
}

// Kingma and Ba's algorithm, written down number by number.
TYPED_TEST(Loops, AdamStepsAsPublished) {
  constexpr Index kCount = 19;
  std::vector<TypeParam> at = this->numbers(kCount, 1), m(kCount), v(kCount);
  std::vector<double> expected(at.begin(), at.end()), em(kCount), ev(kCount);
  for (int step = 1; step <= 5; ++step) {
    const std::vector<TypeParam> gradient = this->numbers(kCount + step, 0.1);
    const double rate = 0.1 / step, decay = 0.05;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double g = gradient[i];
      em[i] = 0.9 * em[i] + 0.1 * g;
      ev[i] = 0.999 * ev[i] + 0.001 * g * g;
      expected[i] -= rate * decay * expected[i];
      expected[i] -= rate * em[i] / (1 - std::pow(0.9, step)) / (std::sqrt(ev[i] / (1 - std::pow(0.999, step))) + 1e-8);
    }
    step_adam({rate, decay, 1 / (1 - std::pow(0.9, step)), 1 / (1 - std::pow(0.999, step))}, kCount, gradient.data(),
              m.data(), v.data(), at.data());
    for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(at[i], expected[i], 100 * this->kRounding) << i;
  }
}

}  // namespace
}  // namespace bregmax::internal
