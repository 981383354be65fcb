#include "bregmax/tasks/nearest_neighbours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "tasks/cases.hpp"

namespace bregmax {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Classes = std::vector<int>;

double tidy(double value) { return std::round(value * 1e11) / 1e11; }

// The share of one vote that each stored row has, by the rule as it is written.
std::vector<double> vote_of_row(const std::vector<double>& distances, Index k) {
  std::vector<double> sorted = distances;
  std::sort(sorted.begin(), sorted.end());
  const double last = sorted[static_cast<std::size_t>(k - 1)];
  const auto nearer =
      static_cast<double>(std::count_if(sorted.begin(), sorted.end(), [&](double d) { return d < last; }));
  const auto tied = static_cast<double>(std::count(sorted.begin(), sorted.end(), last));
  std::vector<double> votes;
  for (const double d : distances) {
    votes.push_back(d < last ? 1 : d == last ? (static_cast<double>(k) - nearer) / tied : 0);
  }
  return votes;
}

Classes winners_by_the_rules(const std::vector<double>& distances, const Classes& classes, Index k) {
  std::map<int, double> votes, sums, sizes;
  const auto vote = vote_of_row(distances, k);
  for (std::size_t i = 0; i < vote.size(); ++i) {
    votes[classes[i]] += vote[i];
    sums[classes[i]] += vote[i] * distances[i];
    sizes[classes[i]] += 1;
  }
  Classes winners;
  for (const auto& [label, count] : votes) winners.push_back(label);
  const auto keep = [&](auto value) {
    double best = -1e300;
    for (const int label : winners) best = std::max(best, value(label));
    std::erase_if(winners, [&](int label) { return value(label) < best - 1e-9; });
  };
  keep([&](int label) { return votes[label]; });
  keep([&](int label) { return -sums[label] / votes[label]; });
  keep([&](int label) { return sizes[label]; });
  return winners;
}

std::vector<double> distances_from(const Divergence& divergence, const Matrix& queries, Index q, const Matrix& stored) {
  std::vector<double> distances;
  for (Index row = 0; row < stored.rows(); ++row) {
    distances.push_back(tidy(divergence.value(queries.row(q).transpose(), stored.row(row).transpose())));
  }
  return distances;
}

class NearestOfEveryDivergence : public testing::TestWithParam<test::Case> {};

TEST_P(NearestOfEveryDivergence, EqualsQueryByQuery) {
  Random random(21);
  const Divergence& divergence = *GetParam().divergence;
  for (const Index k : {1, 2, 5, 30}) {
    const Matrix stored = GetParam().rows(random, 30, 4);
    const Matrix queries = GetParam().rows(random, 40, 4);
    const Classes classes = test::random_classes(random, 30, 4);
    const Vector targets = test::normal_rows(random, 30, 1).col(0);
    const Classification found = classify_nearest(divergence, stored, classes, queries, k);
    const Vector regressed = regress_nearest(divergence, stored, targets, queries, k);
    for (Index q = 0; q < queries.rows(); ++q) {
      const auto distances = distances_from(divergence, queries, q, stored);
      const auto i = static_cast<std::size_t>(q);
      EXPECT_EQ(found.winners[i], winners_by_the_rules(distances, classes, k));
      EXPECT_EQ(found.predicted[i], found.winners[i].front());
      const auto votes = vote_of_row(distances, k);
      double mean = 0, share = 0;
      for (std::size_t row = 0; row < votes.size(); ++row) {
        mean += votes[row] * targets(static_cast<Index>(row)) / static_cast<double>(k);
        if (classes[row] == found.predicted[i]) share += votes[row] / static_cast<double>(k);
      }
      EXPECT_NEAR(regressed(q), mean, 1e-12);
      EXPECT_NEAR(found.share[i], share, 1e-12);
    }
  }
}

TEST_P(NearestOfEveryDivergence, IgnoresRowOrderNamesAndThreads) {
  Random random(22);
  const Divergence& divergence = *GetParam().divergence;
  const Matrix stored = GetParam().rows(random, 60, 4);
  const Matrix queries = GetParam().rows(random, 80, 4);
  const Classes classes = test::random_classes(random, 60, 3);
  const Classes actual = test::random_classes(random, 80, 3);
  for (const Index k : {1, 2, 4, 5}) {
    const Classification first = classify_nearest(divergence, stored, classes, queries, k);
    for (int repeat = 0; repeat < 4; ++repeat) {
      const ThreadLimit limit(1 + repeat % 2);
      const auto order = random.permutation(60), query_order = random.permutation(80);
      const Classification again =
          classify_nearest(divergence, test::permuted(stored, order), test::renamed(test::permuted(classes, order)),
                           test::permuted(queries, query_order), k);
      EXPECT_EQ(expected_accuracy(first, actual),
                expected_accuracy(again, test::renamed(test::permuted(actual, query_order))));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NearestOfEveryDivergence, testing::ValuesIn(test::all_cases()),
                         [](const auto& instance) { return instance.param.name; });

Matrix column(std::initializer_list<double> values) {
  Matrix out(static_cast<Index>(values.size()), 1);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

Classes winners(const Matrix& stored, const Classes& classes, Index k) {
  return classify_nearest(SquaredEuclidean(), stored, classes, column({0}), k).winners[0];
}

TEST(NearestNeighbours, RowsTiedAtTheLastPlaceShareTheVotesThatAreLeft) {
  // One vote is left for three rows at distance 1, two of them of class 1: 2/3 against 1 + 1/3.
  const auto found = classify_nearest(SquaredEuclidean(), column({0, 1, -1, 1}), Classes{0, 1, 1, 0}, column({0}), 2);
  EXPECT_EQ(found.predicted[0], 0);
  EXPECT_DOUBLE_EQ(found.share[0], 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(
      regress_nearest(SquaredEuclidean(), column({0, 1, -1, 1}), Vector(column({0, 3, 3, 6})), column({0}), 2)(0), 2.0);
}

TEST(NearestNeighbours, VoteTiesGoToTheNearerThenToTheLargerClass) {
  EXPECT_THAT(winners(column({2, 1}), {0, 1}, 2), ElementsAre(1));         // nearer
  EXPECT_THAT(winners(column({1, -1, 9}), {0, 1, 1}, 2), ElementsAre(1));  // equally near; larger
  EXPECT_THAT(winners(column({1, -1, 9, 9}), {0, 1, 1, 0}, 2), ElementsAre(0, 1));
}

TEST(NearestNeighbours, AFairDrawDecidesWhatNoRuleCan) {
  const Matrix stored = column({1, -1});
  for (const Classes& classes : {Classes{0, 1}, Classes{1, 0}}) {
    const auto found = classify_nearest(SquaredEuclidean(), stored, classes, column({0, 0, 0}), 2);
    EXPECT_DOUBLE_EQ(expected_accuracy(found, Classes{0, 1, 2}), 1.0 / 3.0);
  }
}

TEST(NearestNeighbours, DuplicatesAndOneClassOnly) {
  EXPECT_THAT(winners(Matrix::Ones(6, 1), Classes(6, 4), 3), ElementsAre(4));
  EXPECT_THAT(winners(Matrix::Ones(3, 1), Classes{7, 2, 7}, 1), ElementsAre(7));
}

TEST(NearestNeighbours, AnOutlierDoesNotMakeTheOthersTie) {
  EXPECT_THAT(winners(column({1e-8, 2e-8, 1e9, 3e-8, 4e-8}), {1, 0, 0, 0, 0}, 1), ElementsAre(1));
}

// Divergences so small that their rounding is as large as they are: whichever come out nearest, k votes are given.
TEST(NearestNeighbours, DivergencesThatAreAllRounding) {
  Random random(5);
  const auto grid = [&](Index rows) {
    return Matrix::NullaryExpr(rows, 5, [&] { return static_cast<double>(random.uniform_index(3)); }).eval();
  };
  const Matrix stored = grid(40), queries = grid(200);
  for (const double size : {0.0, 1e-9, 1e-8, 1e-7}) {
    const Matrix slopes = Matrix::NullaryExpr(7, 5, [&] { return size * random.normal(); });
    const SmoothedMaxAffine divergence(slopes, Vector::Zero(7), 1);
    for (const Index k : {1, 5, 39, 40}) {
      const Vector votes = regress_nearest(divergence, stored, Vector::Ones(40), queries, k);
      EXPECT_LE((votes.array() - 1).abs().maxCoeff(), 1e-12) << size << " " << k;
    }
  }
}

TEST(NearestNeighbours, RefuseBadInput) {
  const Matrix stored = column({0, 1, 2});
  const SquaredEuclidean divergence;
  EXPECT_THAT(
      [&] {
        classify_nearest(divergence, stored, Classes{0, 1, 1}, stored);
      },
      ThrowsMessage<Error>(HasSubstr("k is 5; allowed: 1 to 3 (the number of stored rows)")));
  EXPECT_THAT(
      [&] {
        classify_nearest(divergence, stored, Classes{0, 1, 1}, stored, 0);
      },
      ThrowsMessage<Error>(HasSubstr("k is 0")));
  EXPECT_THAT(
      [&] {
        classify_nearest(divergence, stored, Classes{0, 1}, stored, 1);
      },
      ThrowsMessage<Error>(HasSubstr("stored_classes has 2 entries")));
  EXPECT_THAT(
      [&] {
        classify_nearest(divergence, stored, Classes{0, 1, 1}, Matrix::Ones(2, 2), 1);
      },
      ThrowsMessage<Error>(HasSubstr("queries has 2 features; allowed: 1")));
  EXPECT_THAT([&] { regress_nearest(divergence, stored, Vector::Zero(2), stored, 1); },
              ThrowsMessage<Error>(HasSubstr("stored_targets has 2 entries")));
  EXPECT_THAT([&] { regress_nearest(divergence, stored, Vector::Constant(3, INFINITY), stored, 1); },
              ThrowsMessage<Error>(HasSubstr("stored_targets[0] is inf")));
  EXPECT_THAT([&] { expected_accuracy(Classification{}, Classes{}); }, ThrowsMessage<Error>(HasSubstr("no queries")));
}

TEST(NearestNeighbours, WhatTheSolverDoesNotTellApartSharesTheVotes) {
  Random random(42);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const test::WithResidue divergence = test::with_residue(random, 7, 3);
    const Matrix stored = test::normal_rows(random, 60, 3), queries = test::normal_rows(random, 40, 3);
    const auto classes = test::random_classes(random, 60, 3);
    const Vector targets = Vector::NullaryExpr(60, [&] { return random.normal(); });
    for (const Index k : {1, 5, 20}) {
      const Classification clean = classify_nearest(*divergence.clean, stored, classes, queries, k);
      const Classification learned = classify_nearest(*divergence.learned, stored, classes, queries, k);
      EXPECT_EQ(learned.winners, clean.winners) << k;
      EXPECT_EQ(learned.share, clean.share) << k;
      const Vector difference = regress_nearest(*divergence.clean, stored, targets, queries, k) -
                                regress_nearest(*divergence.learned, stored, targets, queries, k);
      EXPECT_LE(difference.cwiseAbs().maxCoeff(), 1e-12) << k;
    }
  }
}

}  // namespace
}  // namespace bregmax
