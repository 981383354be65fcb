#include "core/compensated_sum.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "bregmax/core/random.hpp"
#include "core/double_double.hpp"

namespace bregmax::internal {
namespace {

void expect_same(const CompensatedSum& found, const CompensatedSum& expected) {
  EXPECT_EQ(found.high(), expected.high());
  EXPECT_EQ(found.low(), expected.low());
}

TEST(CompensatedSum, KeepsWhatRoundingTakes) {
  CompensatedSum sum;
  for (const double x : {0x1p60, 1.0, 0x1p-40, -0x1p60, -1.0}) sum.add(x);
  EXPECT_EQ(sum.value(), 0x1p-40);
}

TEST(CompensatedSum, ProductsCountWithAllTheirDigits) {
  CompensatedSum sum;
  const double a = 1 + 0x1p-40;
  sum.add_product(a, a);  // 1 + 2^-39 + 2^-80
  sum.add(-1);
  sum.add(-0x1p-39);
  EXPECT_EQ(sum.value(), 0x1p-80);
}

TEST(CompensatedSum, AgreesWithDoubleDouble) {
  Random random(1);
  for (int repeat = 0; repeat < 100; ++repeat) {
    CompensatedSum sum;
    DoubleDouble exact = 0;
    double largest = 0;
    for (int i = 0; i < 200; ++i) {
      const double a = std::exp(20 * random.normal()), b = random.normal();
      sum.add_product(a, b);
      exact += DoubleDouble(a) * DoubleDouble(b);
      largest = std::max(largest, std::abs(a * b));
    }
    sum.add(-static_cast<double>(exact));
    EXPECT_NEAR(sum.value(), 0, 1e-15 * std::abs(static_cast<double>(exact)) + 1e-27 * largest);
  }
}

// In a loop for each kind of processor, four at a time and the rest.
TEST(CompensatedSum, DotsOfDifferencesAreSumsOfProducts) {
  Random random(3);
  for (const Index size : {1, 3, 4, 9, 34}) {
    Vector x(size), a(size), b(size);
    for (Vector* numbers : {&x, &a, &b}) {
      for (double& v : *numbers) v = std::exp(10 * random.normal());
    }
    CompensatedSum sum, portable, products;
    sum.add_dot_difference(x.data(), a.data(), b.data(), size);
    portable.add_dot_difference(x.data(), a.data(), b.data(), size, Instructions::kAny);
    expect_same(portable, sum);
    for (Index j = 0; j < size; ++j) {
      products.add_product(x(j), a(j));
      products.add_product(-x(j), b(j));
    }
    EXPECT_NEAR(sum.value(), products.value(), 4e-16 * std::abs(products.value())) << size;
    CompensatedSum none;
    none.add_dot_difference(x.data(), a.data(), a.data(), size);
    EXPECT_NEAR(none.value(), 0, 1e-30 * x.dot(a));
  }
}

TEST(CompensatedSum, AddAllEqualsAddingOneByOne) {
  for (const Index size : {1, 4, 7, 100}) {
    Random random(4);
    Vector x(size);
    for (double& v : x) v = std::exp(10 * random.normal()) * random.normal();
    CompensatedSum together, portable, apart;
    together.add_all(x.data(), size);
    portable.add_all(x.data(), size, Instructions::kAny);
    expect_same(portable, together);
    for (const double v : x) apart.add(v);
    EXPECT_NEAR(together.value(), apart.value(), 2e-16 * std::abs(apart.value())) << size;
  }
}

// The loop over all rows has a version for each kind of processor.
TEST(CompensatedRows, AllAtOnceIsEachByItself) {
  Random random(2);
  for (const Index columns : {1, 3, 4, 7, 34}) {
    constexpr Index kRows = 5;
    CompensatedRows together(kRows, columns), portable(kRows, columns), apart(kRows, columns);
    std::vector<CompensatedSum> sums(static_cast<std::size_t>(kRows * columns));
    for (int repeat = 0; repeat < 50; ++repeat) {
      Vector factors(kRows), x(columns);
      for (double& f : factors) f = random.uniform() < 0.3 ? 0 : std::exp(10 * random.normal());
      for (double& v : x) v = 1e6 * random.normal();
      together.add_to_rows(factors.data(), x.data());
      portable.add_to_rows(factors.data(), x.data(), Instructions::kAny);
      for (Index k = 0; k < kRows; ++k) {
        apart.add_to_row(k, factors(k), x.data());
        for (Index j = 0; j < columns; ++j) {
          sums[static_cast<std::size_t>(k * columns + j)].add_product(factors(k), x(j));
        }
        sums[static_cast<std::size_t>(k * columns)].add(x(0));
        apart.add_to_entry(k, 0, x(0));
        together.add_to_entry(k, 0, x(0));
        portable.add_to_entry(k, 0, x(0));
      }
    }
    EXPECT_EQ(together.values(), apart.values()) << columns;
    EXPECT_EQ(together.values(), portable.values()) << columns;
    for (Index k = 0; k < kRows; ++k) {
      for (Index j = 0; j < columns; ++j) {
        EXPECT_EQ(together.values()(k, j), sums[static_cast<std::size_t>(k * columns + j)].value());
      }
    }
  }
}

}  // namespace
}  // namespace bregmax::internal
