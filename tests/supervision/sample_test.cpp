#include "bregmax/supervision/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "data/expect_error.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

constexpr int kNoCompany = 7;  // a class of one row

RC_GTEST_PROP(SampleProperty, ComparisonsFollowTheClasses, ()) {
  auto class_of_row = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  class_of_row.insert(class_of_row.end(), {0, kNoCompany, 0});
  const Comparisons comparisons = sample_comparisons(class_of_row, 50, *rc::gen::arbitrary<std::uint64_t>());
  RC_ASSERT(comparisons.size() == 50u);
  const auto class_of = [&](Index row) { return class_of_row.at(static_cast<std::size_t>(row)); };
  for (const Comparison& c : comparisons) {
    RC_ASSERT(c.i == c.k);
    RC_ASSERT(c.i != c.j);
    RC_ASSERT(class_of(c.i) == class_of(c.j));
    RC_ASSERT(class_of(c.i) != class_of(c.l));
    RC_ASSERT(c.weight == 1.0);
  }
}

// Within five standard deviations of a binomial count.
void expect_frequency(Index found, Index draws, double probability) {
  const double mean = static_cast<double>(draws) * probability;
  EXPECT_NEAR(static_cast<double>(found), mean, 5 * std::sqrt(mean * (1 - probability)) + 1e-9);
}

TEST(Sample, DrawsClassesByTheirFrequencyAndRowsEvenly) {
  // 60 rows of class 0, 30 of class 1, 10 of class 2, mixed.
  std::vector<int> class_of_row;
  for (int row = 0; row < 100; ++row) class_of_row.push_back(row % 10 < 6 ? 0 : (row % 10 < 9 ? 1 : 2));
  constexpr Index kDraws = 200000;
  std::map<int, Index> first;
  std::map<std::pair<int, int>, Index> other;
  std::map<Index, Index> row_i, row_j;
  for (const Comparison& c : sample_comparisons(class_of_row, kDraws, 11)) {
    const int own = class_of_row[static_cast<std::size_t>(c.i)], far = class_of_row[static_cast<std::size_t>(c.l)];
    ++first[own];
    ++other[{own, far}];
    ++row_i[c.i];
    ++row_j[c.j];
  }
  const double frequency[] = {0.6, 0.3, 0.1};
  for (int own = 0; own < 3; ++own) {
    expect_frequency(first[own], kDraws, frequency[own]);
    for (int far = 0; far < 3; ++far) {
      if (far == own) continue;
      expect_frequency(other[{own, far}], kDraws, frequency[own] * frequency[far] / (1 - frequency[own]));
    }
  }
  for (Index row = 0; row < 100; ++row) {
    expect_frequency(row_i[row], kDraws, 0.01);
    expect_frequency(row_j[row], kDraws, 0.01);
  }
}

TEST(Sample, TakesAClassOfOneRowOnlyAsTheOther) {
  const Comparisons comparisons = sample_comparisons({0, 1, 0}, 100, 3);
  for (const Comparison& c : comparisons) {
    EXPECT_NE(c.i, 1);
    EXPECT_NE(c.j, 1);
    EXPECT_EQ(c.l, 1);
  }
}

TEST(Sample, IsTheSameForOneSeedAndAnotherForAnother) {
  const std::vector<int> classes = {0, 1, 0, 1, 2, 2, 0, 1};
  const auto rows = [&](std::uint64_t seed) {
    std::vector<Index> all;
    for (const Comparison& c : sample_comparisons(classes, 20, seed)) all.insert(all.end(), {c.i, c.j, c.k, c.l});
    return all;
  };
  EXPECT_EQ(rows(1), rows(1));
  EXPECT_NE(rows(1), rows(2));
}

TEST(SampleBadInput, DetectsTooFewClassesRowsAndDraws) {
  EXPECT_THAT(error_of([] { sample_comparisons({}, 10, 1); }), HasSubstr("two classes or more; found 0"));
  EXPECT_THAT(error_of([] { sample_comparisons({4, 4, 4}, 10, 1); }), HasSubstr("two classes or more; found 1"));
  EXPECT_THAT(error_of([] { sample_comparisons({0, 1, 2}, 10, 1); }), HasSubstr("a class with two rows or more"));
  EXPECT_THAT(error_of([] { sample_comparisons({0, 0, 1}, 0, 1); }), HasSubstr("comparisons is 0"));
}

TEST(AllPairs, HoldsEveryOrderedPairOnce) {
  const std::vector<int> classes = {0, 1, 0, 2};
  const Pairs pairs = all_pairs(classes);
  std::set<std::pair<Index, Index>> seen;
  for (const Pair& pair : pairs) {
    EXPECT_NE(pair.i, pair.j);
    EXPECT_EQ(pair.similar, classes[static_cast<std::size_t>(pair.i)] == classes[static_cast<std::size_t>(pair.j)]);
    EXPECT_EQ(pair.weight, 1);
    seen.insert({pair.i, pair.j});
  }
  EXPECT_EQ(pairs.size(), 12u);
  EXPECT_EQ(seen.size(), 12u);
}

TEST(AllPairsBadInput, DetectsFewerThanTwoRows) {
  EXPECT_THAT(error_of([] { all_pairs({}); }), HasSubstr("two rows or more; found 0"));
  EXPECT_THAT(error_of([] { all_pairs({3}); }), HasSubstr("found 1"));
}

TEST(SamplePairs, AreHalfSimilarAndUniformOverTheirKind) {
  const std::vector<int> classes = {4, 0, 4, 0, 4, 7};  // sizes 3, 2, 1: 8 similar and 22 dissimilar ordered pairs
  std::map<std::pair<Index, Index>, int> times;
  constexpr Index kCount = 20001;
  const Pairs pairs = sample_pairs(classes, kCount, 3);
  Index similar = 0;
  for (const Pair& pair : pairs) {
    ASSERT_NE(pair.i, pair.j);
    EXPECT_EQ(pair.similar, classes[static_cast<std::size_t>(pair.i)] == classes[static_cast<std::size_t>(pair.j)]);
    EXPECT_EQ(pair.weight, 1);
    similar += pair.similar ? 1 : 0;
    ++times[{pair.i, pair.j}];
  }
  EXPECT_EQ(similar, 10001);
  EXPECT_EQ(times.size(), 30U);
  for (const auto& [members, count] : times) {
    const bool alike =
        classes[static_cast<std::size_t>(members.first)] == classes[static_cast<std::size_t>(members.second)];
    const double expected = 10000.0 / (alike ? 8 : 22);
    EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << members.first << " " << members.second;
  }
}

TEST(SamplePairs, RefuseWhatHasNoPairsOfBothKinds) {
  EXPECT_THROW(sample_pairs({1, 1, 1}, 10, 0), Error);
  EXPECT_THROW(sample_pairs({1, 2, 3}, 10, 0), Error);
  EXPECT_THROW(sample_pairs({1, 1, 2}, 0, 0), Error);
}

}  // namespace
}  // namespace bregmax
