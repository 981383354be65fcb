#include "bregmax/tasks/scores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "bregmax/core/error.hpp"
#include "tasks/cases.hpp"
#include "tasks/tied_ranking.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Flags = std::vector<bool>;
using Numbers = std::vector<double>;
using Classes = std::vector<int>;

// One order of the candidates, without ties.
RankingScores scores_of_order(const std::vector<std::size_t>& order, const Flags& relevant, Index k) {
  double ordered_pairs = 0, precision_sum = 0, at_k = 0, seen = 0;
  const auto total = static_cast<double>(std::count(relevant.begin(), relevant.end(), true));
  const auto irrelevant_total = static_cast<double>(relevant.size()) - total;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (!relevant[order[place]]) {
      ordered_pairs += seen;
      continue;
    }
    ++seen;
    precision_sum += seen / static_cast<double>(place + 1);
    at_k += static_cast<Index>(place) < k;
  }
  return {ordered_pairs / (total * irrelevant_total), precision_sum / total, at_k / static_cast<double>(k)};
}

// The mean over all orders that the distances allow.
RankingScores brute_force(const Numbers& distances, const Flags& relevant, Index k) {
  std::vector<std::size_t> order(distances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  RankingScores sum{0, 0, 0};
  double orders = 0;
  do {
    if (!std::is_sorted(order.begin(), order.end(),
                        [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; })) {
      continue;
    }
    const RankingScores scores = scores_of_order(order, relevant, k);
    sum.auc += scores.auc;
    sum.average_precision += scores.average_precision;
    sum.precision_at_k += scores.precision_at_k;
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  return {sum.auc / orders, sum.average_precision / orders, sum.precision_at_k / orders};
}

TEST(RankingScores, WithoutTiesAreTheTextbookOnes) {
  const Numbers distances{0.1, 0.2, 0.3, 0.4, 0.5};
  const Flags relevant{true, false, true, false, false};
  EXPECT_DOUBLE_EQ(ranking_scores(distances, relevant).average_precision, (1.0 + 2.0 / 3.0) / 2.0);
  EXPECT_DOUBLE_EQ(ranking_scores(distances, relevant).auc, 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(ranking_scores(distances, relevant, 3).precision_at_k, 2.0 / 3.0);
}

TEST(RankingScores, AllTiedIsChance) {
  const Numbers distances(4, 2.5);
  const Flags relevant{true, false, false, false};
  EXPECT_DOUBLE_EQ(ranking_scores(distances, relevant).auc, 0.5);
  EXPECT_DOUBLE_EQ(ranking_scores(distances, relevant).average_precision, (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 4);
  EXPECT_DOUBLE_EQ(ranking_scores(distances, relevant, 2).precision_at_k, 0.25);
}

TEST(RankingScores, EveryPatternOfSevenCandidatesInTiedGroupsEqualsAllPermutations) {
  // Group sizes 7; 1,6; 3,4; 2,3,2; every choice of the relevant ones.
  const std::vector<Numbers> ties{
      {1, 1, 1, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 2, 2}};
  for (const Numbers& distances : ties) {
    for (unsigned pattern = 1; pattern < 127; ++pattern) {
      Flags relevant(7);
      for (unsigned i = 0; i < 7; ++i) relevant[i] = ((pattern >> i) & 1u) != 0;
      const RankingScores expected = brute_force(distances, relevant, 3);
      const RankingScores found = ranking_scores(distances, relevant, 3);
      EXPECT_NEAR(found.auc, expected.auc, 1e-12);
      EXPECT_NEAR(found.average_precision, expected.average_precision, 1e-12);
      EXPECT_NEAR(found.precision_at_k, expected.precision_at_k, 1e-12);
    }
  }
}

RC_GTEST_PROP(RankingScores, EqualTheMeanOverAllPermutations, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(2, 7);
  const auto whole = *rc::gen::container<std::vector<int>>(size, rc::gen::inRange(0, 4));
  const auto relevant = *rc::gen::container<Flags>(size, rc::gen::arbitrary<bool>());
  const auto k = *rc::gen::inRange<Index>(1, 9);
  const auto total = std::count(relevant.begin(), relevant.end(), true);
  RC_PRE(total > 0 && total < static_cast<long>(size));
  const Numbers distances(whole.begin(), whole.end());
  const RankingScores expected = brute_force(distances, relevant, k);
  const RankingScores found = ranking_scores(distances, relevant, k);
  RC_ASSERT(std::abs(found.auc - expected.auc) < 1e-12);
  RC_ASSERT(std::abs(found.average_precision - expected.average_precision) < 1e-12);
  RC_ASSERT(std::abs(found.precision_at_k - expected.precision_at_k) < 1e-12);
}

// The closed form against the sum that it closes, where the sums of reciprocals cancel most.
TEST(RankingScores, ClosedFormKeepsItsDigitsForLongRankings) {
  const internal::HarmonicNumbers harmonic = internal::harmonic_numbers(200000);
  for (const auto& [before, relevant_before, relevant, irrelevant] :
       std::vector<std::array<Index, 4>>{{199000, 1000, 2, 2}, {199000, 198000, 300, 1}, {0, 0, 5000, 195000}}) {
    const Index size = relevant + irrelevant;
    const long double q = static_cast<long double>(relevant - 1) / static_cast<long double>(size - 1);
    long double sum = 0;
    for (Index j = 1; j <= size; ++j) {
      sum += (static_cast<long double>(relevant_before + 1) + static_cast<long double>(j - 1) * q) /
             static_cast<long double>(before + j);
    }
    const auto expected =
        static_cast<double>(sum * static_cast<long double>(relevant) / static_cast<long double>(size));
    EXPECT_NEAR(internal::expected_precision_sum(before, relevant_before, relevant, irrelevant, harmonic), expected,
                1e-11 * expected);
  }
}

TEST(RankingScores, SortsManyCandidatesAsFew) {
  Random random(51);
  for (const std::size_t size : {10u, 1023u, 1024u, 5000u}) {
    std::vector<internal::TiedGroup> found(size), scratch;
    for (auto& candidate : found) {
      const double scale = std::pow(10.0, static_cast<double>(random.uniform_index(40)) - 20);
      candidate = {random.uniform_index(5) == 0 ? 0 : scale * random.normal(), 1, 0};
    }
    auto expected = found;
    const auto nearer = [](const auto& a, const auto& b) { return a.distance < b.distance; };
    std::sort(expected.begin(), expected.end(), nearer);
    internal::sort_by_distance(found, scratch);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(found[i].distance, expected[i].distance);
  }
}

TEST(RankingScores, AreUndefinedWithoutRelevantOrIrrelevantCandidates) {
  EXPECT_TRUE(std::isnan(ranking_scores(Numbers{1, 2}, Flags{true, true}).auc));
  EXPECT_TRUE(std::isnan(ranking_scores(Numbers{1, 2}, Flags{false, false}).average_precision));
  EXPECT_TRUE(std::isnan(ranking_scores(Numbers{}, Flags{}, 1).precision_at_k));
}

TEST(RankingScores, RefuseBadInput) {
  EXPECT_THAT(
      [] {
        ranking_scores(Numbers{1}, Flags{true, false});
      },
      ThrowsMessage<Error>(HasSubstr("relevant has 2")));
  EXPECT_THAT(
      [] {
        ranking_scores(Numbers{1, NAN}, Flags{true, false});
      },
      ThrowsMessage<Error>(HasSubstr("distances[1] is nan")));
  EXPECT_THAT(
      [] {
        ranking_scores(Numbers{1, 2}, Flags{true, false}, 0);
      },
      ThrowsMessage<Error>(HasSubstr("k is 0; allowed: 1 or more")));
}

// ---- Groupings ----

double rand_index_by_pairs(const Classes& clusters, const Classes& classes) {
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      agree += (clusters[i] == clusters[j]) == (classes[i] == classes[j]);
      ++pairs;
    }
  }
  return agree / pairs;
}

double purity_by_tables(const Classes& clusters, const Classes& classes) {
  std::map<int, std::map<int, int>> table;
  for (std::size_t i = 0; i < clusters.size(); ++i) ++table[clusters[i]][classes[i]];
  int correct = 0;
  for (const auto& [cluster, counts] : table) {
    int largest = 0;
    for (const auto& [label, count] : counts) largest = std::max(largest, count);
    correct += largest;
  }
  return static_cast<double>(correct) / static_cast<double>(clusters.size());
}

double information_by_cells(const Classes& clusters, const Classes& classes) {
  std::map<int, double> a, b;
  std::map<std::pair<int, int>, double> ab;
  const double share = 1 / static_cast<double>(clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    a[clusters[i]] += share;
    b[classes[i]] += share;
    ab[{clusters[i], classes[i]}] += share;
  }
  double information = 0, entropies = 0;
  for (const auto& [cell, p] : ab) information += p * std::log(p / (a[cell.first] * b[cell.second]));
  for (const auto& [group, p] : a) entropies -= p * std::log(p);
  for (const auto& [group, p] : b) entropies -= p * std::log(p);
  return 2 * information / entropies;
}

TEST(GroupingScores, KnownValues) {
  const Classes classes{0, 0, 1, 1}, merged{0, 0, 1, 2};  // values of scikit-learn
  EXPECT_DOUBLE_EQ(adjusted_rand_index(merged, classes), 4.0 / 7.0);
  EXPECT_DOUBLE_EQ(normalised_mutual_information(merged, classes), 0.8);
  EXPECT_DOUBLE_EQ(rand_index(merged, classes), 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(purity(merged, classes), 1.0);
  EXPECT_DOUBLE_EQ(adjusted_rand_index(Classes{0, 1, 0, 1}, classes), -0.5);
}

TEST(GroupingScores, TrivialGroupings) {
  const Classes one(5, 3), apart{0, 1, 2, 3, 4};
  for (const auto& grouping : {one, apart}) {
    EXPECT_EQ(rand_index(grouping, grouping), 1);
    EXPECT_EQ(adjusted_rand_index(grouping, grouping), 1);
    EXPECT_EQ(normalised_mutual_information(grouping, grouping), 1);
    EXPECT_EQ(purity(grouping, grouping), 1);
  }
  EXPECT_EQ(rand_index(one, apart), 0);
  EXPECT_EQ(adjusted_rand_index(one, apart), 0);
  EXPECT_EQ(normalised_mutual_information(one, apart), 0);
  EXPECT_EQ(rand_index(Classes{4}, Classes{2}), 1);
  EXPECT_EQ(adjusted_rand_index(Classes{4}, Classes{2}), 1);
}

RC_GTEST_PROP(GroupingScores, EqualTheirDefinitionsAndIgnoreOrderAndNames, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(2, 30);
  const auto clusters = *rc::gen::container<Classes>(size, rc::gen::inRange(0, 5));
  const auto classes = *rc::gen::container<Classes>(size, rc::gen::inRange(0, 4));
  RC_ASSERT(std::abs(rand_index(clusters, classes) - rand_index_by_pairs(clusters, classes)) < 1e-12);
  RC_ASSERT(std::abs(purity(clusters, classes) - purity_by_tables(clusters, classes)) < 1e-12);
  const bool trivial = std::equal(clusters.begin() + 1, clusters.end(), clusters.begin()) &&
                       std::equal(classes.begin() + 1, classes.end(), classes.begin());
  if (!trivial) {
    RC_ASSERT(std::abs(normalised_mutual_information(clusters, classes) - information_by_cells(clusters, classes)) <
              1e-12);
  }
  const auto order = Random(*rc::gen::arbitrary<std::uint64_t>()).permutation(static_cast<Index>(size));
  const Classes other_clusters = test::renamed(test::permuted(clusters, order));
  const Classes other_classes = test::renamed(test::permuted(classes, order));
  RC_ASSERT(rand_index(clusters, classes) == rand_index(other_clusters, other_classes));
  RC_ASSERT(adjusted_rand_index(clusters, classes) == adjusted_rand_index(other_clusters, other_classes));
  RC_ASSERT(normalised_mutual_information(clusters, classes) ==
            normalised_mutual_information(other_clusters, other_classes));
  RC_ASSERT(purity(clusters, classes) == purity(other_clusters, other_classes));
}

// Its expectation over all permutations of one of the groupings is zero: that is what it is adjusted for.
TEST(GroupingScores, AdjustedRandIndexIsZeroInTheMeanOverPermutations) {
  Classes clusters{0, 0, 0, 1, 1, 2, 2};
  const Classes classes{0, 0, 1, 1, 1, 1, 2};
  double sum = 0;
  do {
    sum += adjusted_rand_index(clusters, classes);
  } while (std::next_permutation(clusters.begin(), clusters.end()));
  EXPECT_NEAR(sum, 0, 1e-9);
}

TEST(GroupingScores, RefuseBadInput) {
  EXPECT_THAT([] { rand_index(Classes{}, Classes{}); }, ThrowsMessage<Error>(HasSubstr("at least one")));
  EXPECT_THAT([] { purity(Classes{0, 1}, Classes{0}); }, ThrowsMessage<Error>(HasSubstr("classes has 1 entries")));
  EXPECT_THAT([] { rand_index(Classes{0, -2}, Classes{0, 1}); }, ThrowsMessage<Error>(HasSubstr("clusters[1] is -2")));
}

// ---- Predictions of numbers ----

Vector numbers_of(const Numbers& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

TEST(RegressionScores, AreThoseOfAnExampleByHand) {
  // Errors 1, 0, -2, 1; mean 5, squares about it 16 + 1 + 1 + 16 = 34.
  const RegressionScores scores = regression_scores(numbers_of({1, 4, 6, 9}), numbers_of({2, 4, 4, 10}));
  EXPECT_NEAR(scores.r2, 1 - 6.0 / 34, 1e-15);
  EXPECT_DOUBLE_EQ(scores.mean_absolute_error, 1);
  // Ranks 1, 2, 3, 4 and 1, 2.5, 2.5, 4: covariance 4.5, squares 5 and 4.5.
  EXPECT_NEAR(scores.rank_correlation, 4.5 / std::sqrt(5 * 4.5), 1e-15);
}

TEST(RegressionScores, OfExactAndOfReversedPredictions) {
  const Vector actual = numbers_of({3, 1, 2, 2});
  const RegressionScores exact = regression_scores(actual, actual);
  EXPECT_EQ(exact.r2, 1);
  EXPECT_EQ(exact.mean_absolute_error, 0);
  EXPECT_NEAR(exact.rank_correlation, 1, 1e-15);
  EXPECT_NEAR(regression_scores(actual, -actual).rank_correlation, -1, 1e-15);
  EXPECT_NEAR(regression_scores(actual, Vector::Constant(4, 2)).r2, 0, 1e-15) << "the mean";
}

TEST(RegressionScores, AreNotKnownWhereNothingDiffers) {
  const RegressionScores scores = regression_scores(Vector::Constant(3, 0.1), numbers_of({1, 2, 3}));
  EXPECT_TRUE(std::isnan(scores.r2));
  EXPECT_TRUE(std::isnan(scores.rank_correlation));
  EXPECT_NEAR(scores.mean_absolute_error, 1.9, 1e-15);
  EXPECT_TRUE(std::isnan(regression_scores(numbers_of({1, 2, 3}), Vector::Ones(3)).rank_correlation));
}

TEST(RegressionScoresBadInput, DetectsWhatDoesNotFit) {
  EXPECT_THAT([] { regression_scores(Vector::Ones(2), Vector::Ones(3)); },
              ThrowsMessage<Error>(HasSubstr("2 actual and 3 predicted")));
  EXPECT_THAT([] { regression_scores(Vector(), Vector()); }, ThrowsMessage<Error>(HasSubstr("at least one")));
  EXPECT_THAT([] { regression_scores(Vector::Ones(1), Vector::Constant(1, HUGE_VAL)); },
              ThrowsMessage<Error>(HasSubstr("finite")));
}

}  // namespace
}  // namespace bregmax
