#include "bregmax/tasks/ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/tasks/scores.hpp"
#include "tasks/cases.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

double tidy(double value) { return std::round(value * 1e11) / 1e11; }

// Query by query from single divergences; those that are equal up to rounding are made equal.
RankingSummary straightforward(const Divergence& divergence, const Matrix& rows, const std::vector<int>& classes,
                               Index k) {
  RankingSummary sum{{0, 0, 0}};
  for (Index q = 0; q < rows.rows(); ++q) {
    std::vector<double> distances;
    std::vector<bool> relevant;
    for (Index c = 0; c < rows.rows(); ++c) {
      if (c == q) continue;
      distances.push_back(tidy(divergence.value(rows.row(q).transpose(), rows.row(c).transpose())));
      relevant.push_back(classes[static_cast<std::size_t>(c)] == classes[static_cast<std::size_t>(q)]);
    }
    const RankingScores scores = ranking_scores(distances, relevant, k);
    if (std::isnan(scores.auc)) {
      ++sum.skipped_queries;
      continue;
    }
    ++sum.queries;
    sum.auc += scores.auc;
    sum.average_precision += scores.average_precision;
    sum.precision_at_k += scores.precision_at_k;
  }
  const auto queries = static_cast<double>(sum.queries);
  return {{sum.auc / queries, sum.average_precision / queries, sum.precision_at_k / queries},
          sum.queries,
          sum.skipped_queries};
}

class RankingOfEveryDivergence : public testing::TestWithParam<test::Case> {};

TEST_P(RankingOfEveryDivergence, EqualsQueryByQuery) {
  Random random(11);
  for (const Index rows_count : {2, 3, 17, 90}) {
    const Matrix rows = GetParam().rows(random, rows_count, 4);
    auto classes = test::random_classes(random, rows_count, 3);
    classes.back() = 9;  // alone in its class
    const RankingSummary expected = straightforward(*GetParam().divergence, rows, classes, 4);
    const RankingSummary found = evaluate_ranking(*GetParam().divergence, rows, classes, 4);
    EXPECT_EQ(found.queries, expected.queries);
    EXPECT_EQ(found.skipped_queries, expected.skipped_queries);
    if (expected.queries == 0) continue;
    EXPECT_NEAR(found.auc, expected.auc, 1e-10);
    EXPECT_NEAR(found.average_precision, expected.average_precision, 1e-10);
    EXPECT_NEAR(found.precision_at_k, expected.precision_at_k, 1e-10);
  }
}

TEST_P(RankingOfEveryDivergence, IgnoresRowOrderNamesAndThreads) {
  Random random(12);
  const Matrix rows = GetParam().rows(random, 120, 4);
  const auto classes = test::random_classes(random, 120, 3);
  const RankingSummary first = evaluate_ranking(*GetParam().divergence, rows, classes);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto order = random.permutation(120);
    const ThreadLimit limit(1 + repeat % 2);
    const RankingSummary again = evaluate_ranking(*GetParam().divergence, test::permuted(rows, order),
                                                  test::renamed(test::permuted(classes, order)));
    EXPECT_EQ(first.auc, again.auc);
    EXPECT_EQ(first.average_precision, again.average_precision);
    EXPECT_EQ(first.precision_at_k, again.precision_at_k);
  }
}

TEST_P(RankingOfEveryDivergence, RankSortsThePool) {
  Random random(13);
  const Matrix queries = GetParam().rows(random, 9, 4);
  const Matrix pool = GetParam().rows(random, 40, 4);
  const Matrix divergences = GetParam().divergence->matrix(queries, pool);
  for (const Index top : {0, 1, 7, 40, 100}) {
    const auto ranked = rank(*GetParam().divergence, queries, pool, top);
    ASSERT_EQ(ranked.size(), 9u);
    for (Index q = 0; q < 9; ++q) {
      std::vector<std::pair<double, Index>> expected;
      for (Index row = 0; row < 40; ++row) expected.emplace_back(divergences(q, row), row);
      std::sort(expected.begin(), expected.end());
      const auto& found = ranked[static_cast<std::size_t>(q)];
      ASSERT_EQ(static_cast<Index>(found.size()), top == 0 ? 40 : std::min<Index>(top, 40));
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].row, expected[i].second);
        EXPECT_EQ(found[i].divergence, expected[i].first);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RankingOfEveryDivergence, testing::ValuesIn(test::all_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Ranking, ExcludesTheQueryByItsNumberAndKeepsItsDuplicate) {
  // Row 0's only other member of its class is its duplicate; another class sits on the same place.
  Matrix rows(3, 1);
  rows << 1, 1, 1;
  const RankingSummary summary = evaluate_ranking(SquaredEuclidean(), rows, std::vector<int>{0, 0, 1});
  EXPECT_EQ(summary.queries, 2);
  EXPECT_EQ(summary.skipped_queries, 1);
  EXPECT_DOUBLE_EQ(summary.auc, 0.5);
  EXPECT_DOUBLE_EQ(summary.average_precision, 0.75);
}

TEST(Ranking, MeasuresFromTheQueryToTheCandidate) {
  // KL is not symmetric: from row 0 the nearer row is 1, towards row 0 it would be 2.
  Matrix rows(3, 2);
  rows << 0.5, 0.5, 0.93, 0.07, 0.015, 0.985;
  const auto kl = make_closed_form("kl");
  const auto ranked = rank(*kl, rows.topRows(1), rows.bottomRows(2));
  EXPECT_EQ(ranked[0][0].row, 0);
  EXPECT_DOUBLE_EQ(ranked[0][0].divergence, kl->matrix(rows.topRows(1), rows.middleRows(1, 1))(0, 0));
}

TEST(Ranking, OneClassOnlyLeavesNothingToScore) {
  const RankingSummary summary = evaluate_ranking(SquaredEuclidean(), Matrix::Random(6, 2), std::vector<int>(6, 2));
  EXPECT_EQ(summary.queries, 0);
  EXPECT_EQ(summary.skipped_queries, 6);
  EXPECT_TRUE(std::isnan(summary.auc));
}

TEST(Ranking, StopsOnRequestAndReportsProgress) {
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress&) { stop = true; };
  Random random(1);
  const Matrix rows = test::normal_rows(random, 9000, 2);
  const auto classes = test::random_classes(random, 9000, 2);
  const RankingSummary summary = evaluate_ranking(SquaredEuclidean(), rows, classes, kPrecisionAt, control);
  EXPECT_TRUE(summary.stopped);
  EXPECT_GT(summary.queries, 0);
  EXPECT_LT(summary.queries, 9000);
  EXPECT_TRUE(rank(SquaredEuclidean(), rows, rows, 3, control).empty());
}

TEST(Ranking, RefusesBadInput) {
  const Matrix rows = Matrix::Random(3, 2);
  const SquaredEuclidean divergence;
  EXPECT_THAT([&] { evaluate_ranking(divergence, Matrix(0, 2), std::vector<int>{}); },
              ThrowsMessage<Error>(HasSubstr("rows has 0 rows")));
  EXPECT_THAT(
      [&] {
        evaluate_ranking(divergence, rows, std::vector<int>{0, 1});
      },
      ThrowsMessage<Error>(HasSubstr("classes has 2 entries; allowed: 3")));
  EXPECT_THAT(
      [&] {
        evaluate_ranking(divergence, rows, std::vector<int>{0, 1, -1});
      },
      ThrowsMessage<Error>(HasSubstr("classes[2] is -1")));
  EXPECT_THAT(
      [&] {
        evaluate_ranking(divergence, rows, std::vector<int>{0, 1, 1}, 0);
      },
      ThrowsMessage<Error>(HasSubstr("precision_at is 0")));
  EXPECT_THAT([&] { rank(divergence, rows, Matrix::Random(3, 4)); },
              ThrowsMessage<Error>(HasSubstr("queries has 2 features; allowed: 4")));
  EXPECT_THAT([&] { rank(divergence, rows, rows, -1); }, ThrowsMessage<Error>(HasSubstr("top is -1")));
  Matrix broken = rows;
  broken(1, 1) = std::nan("");
  EXPECT_THROW(rank(divergence, broken, rows), Error);
  EXPECT_THROW(rank(divergence, rows, broken), Error);
}

// A resolution of 0 orders the rows of a piece by the residue: other scores, and others for each order of the rows.
TEST(Ranking, WhatTheSolverDoesNotTellApartIsTied) {
  Random random(41);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const test::WithResidue divergence = test::with_residue(random, 7, 3);
    const Matrix rows = test::normal_rows(random, 80, 3);
    const auto classes = test::random_classes(random, 80, 3);
    const RankingSummary clean = evaluate_ranking(*divergence.clean, rows, classes, 10);
    const RankingSummary learned = evaluate_ranking(*divergence.learned, rows, classes, 10);
    EXPECT_EQ(learned.auc, clean.auc);
    EXPECT_EQ(learned.average_precision, clean.average_precision);
    EXPECT_EQ(learned.precision_at_k, clean.precision_at_k);
  }
}

}  // namespace
}  // namespace bregmax
