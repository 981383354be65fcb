#include "bregmax/core/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace bregmax {
namespace {

TEST(Random, GivesTheSameNumbersOnEveryPlatform) {
  // xoshiro256++ seeded with the first four outputs of splitmix64 from 0, computed apart from this code.
  Random random(0);
  EXPECT_EQ(random.next_bits(), 0x53175d61490b23dfULL);
  EXPECT_EQ(random.next_bits(), 0x61da6f3dc380d507ULL);
  EXPECT_EQ(random.next_bits(), 0x5c0fdf91ec9a7bfcULL);
}

TEST(Random, UniformIsInRangeAndEven) {
  Random random(1);
  constexpr int kDraws = 100000;
  double sum = 0, sum_of_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.uniform();
    ASSERT_TRUE(value >= 0 && value < 1);
    sum += value;
    sum_of_squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(sum_of_squares / kDraws, 1.0 / 3, 0.005);
}

TEST(Random, NormalHasTheRightMoments) {
  Random random(2);
  constexpr int kDraws = 200000;
  double moment[5] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    for (int p = 1; p <= 4; ++p) moment[p] += std::pow(value, p) / kDraws;
  }
  EXPECT_NEAR(moment[1], 0, 0.015);
  EXPECT_NEAR(moment[2], 1, 0.02);
  EXPECT_NEAR(moment[3], 0, 0.05);
  EXPECT_NEAR(moment[4], 3, 0.15);
}

TEST(Random, UniformIndexReachesEveryIndexEvenly) {
  Random random(3);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[static_cast<std::size_t>(random.uniform_index(7))];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(random.uniform_index(1), 0);
}

RC_GTEST_PROP(RandomProperty, PermutationHoldsEveryNumberOnce, ()) {
  const auto size = *rc::gen::inRange<Index>(0, 100);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  auto order = random.permutation(size);
  std::sort(order.begin(), order.end());
  RC_ASSERT(static_cast<Index>(order.size()) == size);
  for (Index i = 0; i < size; ++i) RC_ASSERT(order[static_cast<std::size_t>(i)] == i);
}

TEST(Random, ForksDependOnSeedAndStreamOnly) {
  Random used(4);
  const Random fresh(4);
  for (int i = 0; i < 10; ++i) used.next_bits();
  EXPECT_EQ(used.fork(1).next_bits(), fresh.fork(1).next_bits());
  std::set<std::uint64_t> firsts = {Random(4).next_bits()};
  for (std::uint64_t stream = 0; stream < 100; ++stream) {
    firsts.insert(fresh.fork(stream).next_bits());
    firsts.insert(Random(5).fork(stream).next_bits());
  }
  EXPECT_EQ(firsts.size(), 201u);
}

}  // namespace
}  // namespace bregmax
