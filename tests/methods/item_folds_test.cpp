#include "methods/item_folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bregmax/supervision/sample.hpp"

namespace bregmax {
namespace {

using internal::item_folds;
using internal::SplitItems;

// A held-out pair whose other direction was learned from would say nothing.
TEST(ItemFolds, HoldOutBothDirectionsOfAPair) {
  Pairs pairs;
  for (Index row = 0; row < 10; ++row)
    pairs.push_back({row, (row + 3) % 10, row % 3 == 0, 1.0 + static_cast<double>(row)});
  std::multiset<std::pair<Index, Index>> seen;
  for (const SplitItems& split : item_folds(in_both_directions(pairs), 5, 1, 5)) {
    const auto& held_out = std::get<Pairs>(split.held_out);
    EXPECT_EQ(held_out.size(), 4U);
    EXPECT_EQ(std::get<Pairs>(split.train).size(), 16U);
    for (const Pair& pair : held_out) {
      seen.insert({pair.i, pair.j});
      EXPECT_TRUE(std::ranges::any_of(held_out, [&](const Pair& one) { return one.i == pair.j && one.j == pair.i; }));
    }
  }
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_EQ(seen.count({0, 3}), 1U);
}

TEST(ItemFolds, DivideDirectedPairsOneByOne) {
  const Pairs pairs = {{0, 1, true}, {1, 0, false}, {2, 3, true}, {3, 2, true, 2}};
  for (const SplitItems& split : item_folds(pairs, 4, 1, 4)) EXPECT_EQ(std::get<Pairs>(split.held_out).size(), 1U);
}

}  // namespace
}  // namespace bregmax
