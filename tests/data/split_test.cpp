#include "bregmax/data/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "data/expect_error.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

// Whether the parts together hold each of 0 .. rows - 1 once, each part in ascending order.
bool is_partition(const std::vector<std::vector<Index>>& parts, Index rows) {
  std::vector<Index> all;
  for (const auto& part : parts) {
    if (!std::is_sorted(part.begin(), part.end())) return false;
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<Index> expected(static_cast<std::size_t>(rows));
  std::iota(expected.begin(), expected.end(), Index{0});
  return all == expected;
}

RC_GTEST_PROP(SplitProperty, SplitsPartitionTheRows, ()) {
  const auto rows = *rc::gen::inRange<Index>(0, 200);
  const double fraction = *rc::gen::inRange(0, 101) / 100.0;
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const Split split = random_split(rows, fraction, random);
  RC_ASSERT(is_partition({split.train, split.test}, rows));
  RC_ASSERT(std::abs(static_cast<double>(split.train.size()) - fraction * static_cast<double>(rows)) <= 1);
  if (rows >= 2) RC_ASSERT(!split.train.empty() && !split.test.empty());
}

RC_GTEST_PROP(SplitProperty, FoldsPartitionTheRowsAndSpreadTheClasses, ()) {
  const auto class_of_row =
      *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(2, 100), rc::gen::inRange(-1, 4));
  const int folds = *rc::gen::inRange(2, std::min<int>(12, static_cast<int>(class_of_row.size()) + 1));
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::vector<Index>> test_rows;
  for (const auto& [train, test] : stratified_folds(class_of_row, folds, random)) {
    RC_ASSERT(std::ranges::is_sorted(train) && std::ranges::is_sorted(test));
    RC_ASSERT(is_partition({train, test}, static_cast<Index>(class_of_row.size())));
    test_rows.push_back(test);
  }
  RC_ASSERT(test_rows.size() == static_cast<std::size_t>(folds));
  RC_ASSERT(is_partition(test_rows, static_cast<Index>(class_of_row.size())));
  const auto spread = [&](auto count) {
    std::vector<Index> counts;
    for (const auto& fold : test_rows) counts.push_back(count(fold));
    const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
    return *high - *low;
  };
  RC_ASSERT(spread([](const auto& fold) { return static_cast<Index>(fold.size()); }) <= 1);
  for (int c = -1; c < 4; ++c) {
    RC_ASSERT(spread([&](const auto& fold) {
                return std::count_if(fold.begin(), fold.end(),
                                     [&](Index row) { return class_of_row[static_cast<std::size_t>(row)] == c; });
              }) <= 1);
  }
}

TEST(Split, DependsOnTheSeedOnly) {
  Random first(5), again(5), other(6);
  const Split split = random_split(150, 2.0 / 3, first);
  EXPECT_EQ(split.train.size(), 100u);
  EXPECT_EQ(split.train, random_split(150, 2.0 / 3, again).train);
  EXPECT_NE(split.train, random_split(150, 2.0 / 3, other).train);
}

TEST(SplitBadInput, DetectsFractionsAndFoldsOutOfRange) {
  Random random(1);
  for (const double fraction : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(error_of([&] { random_split(10, fraction, random); }), HasSubstr("train_fraction"));
  }
  EXPECT_THAT(error_of([&] { random_split(-1, 0.5, random); }), HasSubstr("-1"));
  EXPECT_THAT(error_of([&] { stratified_folds({0, 1, 0}, 1, random); }), HasSubstr("folds is 1"));
  EXPECT_THAT(error_of([&] { stratified_folds({0, 1, 0}, 4, random); }), HasSubstr("folds is 4; allowed: 2 to"));
}

}  // namespace
}  // namespace bregmax
