#include "bregmax/supervision/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "data/expect_error.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

constexpr int kSingleRowClass = 7;

RC_GTEST_PROP(SampleProperty, ComparisonsFollowTheClasses, ()) {
  auto class_of_row = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  class_of_row.insert(class_of_row.end(), {0, kSingleRowClass, 0});
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

std::vector<Index> members(const Comparisons& comparisons) {
  std::vector<Index> all;
  for (const Comparison& c : comparisons) all.insert(all.end(), {c.i, c.j, c.k, c.l});
  return all;
}

TEST(Sample, DependsOnTheSeedOnly) {
  const std::vector<int> classes = {0, 1, 0, 1, 2, 2, 0, 1};
  const auto rows = [&](std::uint64_t seed) { return members(sample_comparisons(classes, 20, seed)); };
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

// The definition, written out: is `other` among the `count` nearest rows to i that satisfy the condition?
template <class Condition>
bool among_nearest(const Matrix& rows, Index i, Index other, Index count, const Condition& condition) {
  const double distance = (rows.row(i) - rows.row(other)).squaredNorm();
  Index nearer = 0;
  for (Index row = 0; row < rows.rows(); ++row) {
    if (row == i || row == other || !condition(row)) continue;
    const double to_row = (rows.row(i) - rows.row(row)).squaredNorm();
    if (to_row < distance || (to_row == distance && row < other)) ++nearer;
  }
  return condition(other) && other != i && nearer < count;
}

RC_GTEST_PROP(HardComparisonsProperty, AreTheGenuineAndImpostorNeighbours, ()) {
  auto class_of_row = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
  class_of_row.insert(class_of_row.end(), {0, kSingleRowClass, 0});
  const auto count = static_cast<Index>(class_of_row.size());
  Matrix rows(count, 2);
  for (double& x : rows.reshaped()) x = *rc::gen::inRange(-3, 4);  // few values: ties and duplicates
  const auto neighbours = static_cast<Index>(*rc::gen::inRange(1, 4));
  const Comparisons found = hard_comparisons(rows, class_of_row, neighbours);
  const auto class_of = [&](Index row) { return class_of_row.at(static_cast<std::size_t>(row)); };
  std::set<std::array<Index, 3>> triplets;
  for (const Comparison& c : found) {
    RC_ASSERT(c.i == c.k);
    triplets.insert({c.i, c.j, c.l});
  }
  RC_ASSERT(triplets.size() == found.size());
  for (Index i = 0; i < count; ++i) {
    const auto own = [&](Index row) { return class_of(row) == class_of(i); };
    const auto others = [&](Index row) { return class_of(row) != class_of(i); };
    for (Index j = 0; j < count; ++j) {
      for (Index l = 0; l < count; ++l) {
        const bool expected =
            among_nearest(rows, i, j, neighbours, own) && among_nearest(rows, i, l, neighbours, others);
        RC_ASSERT(triplets.contains({i, j, l}) == expected);
      }
    }
  }
}

TEST(Sample, KeepsARandomPartOfTheHardComparisons) {
  const std::vector<int> class_of_row = {0, 0, 0, 0, 1, 1, 1, 1};
  const Matrix rows = Vector::LinSpaced(8, 0, 7);
  const Comparisons all = hard_comparisons(rows, class_of_row, 2);
  ASSERT_EQ(all.size(), 32U);
  std::map<std::array<Index, 3>, Index> times;
  constexpr Index kDraws = 4000;
  for (Index draw = 0; draw < kDraws; ++draw) {
    const Comparisons some = hard_comparisons(rows, class_of_row, 2, 8, static_cast<std::uint64_t>(draw));
    ASSERT_EQ(some.size(), 8U);
    for (const Comparison& c : some) ++times[{c.i, c.j, c.l}];
  }
  EXPECT_EQ(times.size(), 32U);
  for (const auto& [triplet, count] : times) expect_frequency(count, kDraws, 0.25);
  EXPECT_EQ(hard_comparisons(rows, class_of_row, 2, 100).size(), 32U) << "no more than there are";
}

TEST(SampleBadInput, DetectsLabelsWithoutHardComparisons) {
  const Matrix rows = Matrix::Random(4, 2);
  EXPECT_THAT(error_of([&] { hard_comparisons(rows, {0, 0, 0, 0}, 1); }), HasSubstr("two classes"));
  EXPECT_THAT(error_of([&] { hard_comparisons(rows, {0, 1, 2, 3}, 1); }), HasSubstr("two rows"));
  EXPECT_THAT(error_of([&] { hard_comparisons(rows, {0, 0, 1, 1}, 0); }), HasSubstr("neighbours is 0"));
  EXPECT_THAT(error_of([&] { hard_comparisons(rows, {0, 0, 1, 1}, 1, -1); }), HasSubstr("comparisons is -1"));
  EXPECT_THAT(error_of([&] { hard_comparisons(rows, {0, 0, 1}, 1); }), HasSubstr("3 classes for 4 rows"));
}

TEST(Sample, MakesEachKindFromLabels) {
  constexpr Index kCount = 17, kNeighbours = 2;
  constexpr std::uint64_t kSeed = 3;
  const std::vector<int> class_of_row = {0, 0, 0, 1, 1, 1};
  const Matrix rows = Vector::LinSpaced(6, 0, 5);
  LabelSupervisionOptions options{LabelSupervision::kComparisons, kCount, kNeighbours, kSeed};
  const auto comparisons = [&] {
    return members(std::get<Comparisons>(supervision_from_labels(rows, class_of_row, options)));
  };
  EXPECT_EQ(comparisons(), members(sample_comparisons(class_of_row, kCount, kSeed)));
  options.kind = LabelSupervision::kHardComparisons;
  EXPECT_EQ(comparisons(), members(hard_comparisons(rows, class_of_row, kNeighbours, kCount, kSeed)));
  options.comparisons = 0;
  EXPECT_EQ(comparisons(), members(hard_comparisons(rows, class_of_row, kNeighbours))) << "0 means all";
  options.kind = LabelSupervision::kAllPairs;
  const Supervision pairs = supervision_from_labels(rows, class_of_row, options);
  EXPECT_EQ(std::get<LabelPairs>(pairs).class_of_row, class_of_row);
  EXPECT_EQ(std::get<LabelPairs>(pairs).size(), 30U);
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

TEST(InBothDirections, HalvesTheWeights) {
  const Pairs both = in_both_directions(Pairs{{0, 1, true, 3}, {2, 2, false}});
  ASSERT_EQ(both.size(), 4U);
  const Pairs expected = {{0, 1, true, 1.5}, {1, 0, true, 1.5}, {2, 2, false, 0.5}, {2, 2, false, 0.5}};
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(both[p].i, expected[p].i);
    EXPECT_EQ(both[p].j, expected[p].j);
    EXPECT_EQ(both[p].similar, expected[p].similar);
    EXPECT_EQ(both[p].weight, expected[p].weight);
  }
  EXPECT_EQ(std::get<Comparisons>(in_both_directions(Supervision(Comparisons{{0, 1, 0, 2}}))).size(), 1U);
}

TEST(SamplePairsBadInput, DetectsLabelsWithoutPairsOfBothKinds) {
  EXPECT_THAT(error_of([] { sample_pairs({1, 1, 1}, 10, 0); }), HasSubstr("two classes or more; found 1"));
  EXPECT_THAT(error_of([] { sample_pairs({1, 2, 3}, 10, 0); }), HasSubstr("a class with two rows or more"));
  EXPECT_THAT(error_of([] { sample_pairs({1, 1, 2}, 0, 0); }), HasSubstr("the number of pairs is 0"));
}

// ---- A number per row ----

TEST(SquaredDifferences, AreInUnitsOfTheirMeanOverAllPairs) {
  const Vector numbers = (Vector(4) << 10, 20, 20, 50).finished();
  const Targets targets = squared_differences(numbers, 12, 0);
  ASSERT_EQ(targets.size(), 12u) << "all ordered pairs";
  double sum = 0;
  std::set<std::pair<Index, Index>> seen;
  for (const Target& one : targets) {
    seen.emplace(one.i, one.j);
    EXPECT_NE(one.i, one.j);
    const double difference = numbers(one.i) - numbers(one.j);
    EXPECT_NEAR(one.value, difference * difference / (2 * 225), 1e-12) << "the variance is 225";
    sum += one.value;
  }
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_NEAR(sum / 12, 4.0 / 3, 1e-12) << "1 over pairs that may be equal, n / (n - 1) over the others";
}

TEST(SquaredDifferences, AreDrawnByTheSeedWhereThereAreMorePairs) {
  Vector numbers(50);
  for (Index i = 0; i < 50; ++i) numbers(i) = static_cast<double>(i % 7);
  const auto rows_of = [&](std::uint64_t seed) {
    std::vector<std::pair<Index, Index>> rows;
    for (const Target& one : squared_differences(numbers, 300, seed)) rows.emplace_back(one.i, one.j);
    return rows;
  };
  const auto first = rows_of(1);
  EXPECT_EQ(first.size(), 300u);
  EXPECT_EQ(first, rows_of(1));
  EXPECT_NE(first, rows_of(2));
  std::set<Index> points;
  for (const auto& [i, j] : first) {
    EXPECT_NE(i, j);
    EXPECT_TRUE(i >= 0 && i < 50 && j >= 0 && j < 50);
    points.insert(i);
  }
  EXPECT_EQ(points.size(), 50u);
}

TEST(SquaredDifferences, TakeLargeNumbers) {
  const Vector numbers = (Vector(3) << 1e300, -1e300, 0).finished();
  for (const Target& one : squared_differences(numbers, 6, 0)) {
    EXPECT_NEAR(one.value, std::abs(one.i - one.j) == 1 && one.i + one.j == 1 ? 3 : 0.75, 1e-12);
  }
}

TEST(SquaredDifferencesBadInput, DetectsNumbersThatSayNothing) {
  const auto refused = [](const Vector& numbers, Index count, const char* message) {
    EXPECT_THAT(error_of([&] { squared_differences(numbers, count, 0); }), HasSubstr(message));
  };
  refused(Vector::Ones(1), 5, "two numbers or more");
  refused(Vector::Constant(4, 3), 5, "all 4 numbers are 3");
  refused((Vector(3) << 1, std::nan(""), 2).finished(), 5, "the number of row 1 is nan");
  refused((Vector(2) << 1, 2).finished(), 0, "the number of pairs is 0");
}

}  // namespace
}  // namespace bregmax
