#include "paper/scripted.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "data/expect_error.hpp"
#include "paper/cases.hpp"

namespace bregmax {
namespace {

using ::testing::ContainsRegex;
using testing::error_of;
using ::testing::HasSubstr;

Matrix column(std::initializer_list<double> values) {
  Matrix rows(std::ssize(values), 1);
  std::copy(values.begin(), values.end(), rows.data());
  return rows;
}

TEST(Scripted, ComparisonsTakeClassesByTheirFrequencyAndMayRepeatARow) {
  const std::vector<int> classes = {0, 0, 0, 0, 0, 0, 1, 1, 1, 2};  // 0.6, 0.3 and 0.1 of the rows
  Random random(1);
  constexpr Index kCount = 40'000;
  double own[3] = {}, one_after_zero = 0, repeated = 0;
  for (const Comparison& item : internal::scripted_comparisons(classes, kCount, random)) {
    ASSERT_EQ(item.i, item.k);
    ASSERT_EQ(classes[item.i], classes[item.j]);
    ASSERT_NE(classes[item.i], classes[item.l]);
    ++own[classes[item.i]];
    repeated += item.i == item.j ? 1 : 0;
    one_after_zero += classes[item.i] == 0 && classes[item.l] == 1 ? 1 : 0;
  }
  EXPECT_NEAR(own[0] / kCount, 0.6, 0.01);
  EXPECT_NEAR(own[2] / kCount, 0.1, 0.01) << "a class of one row draws itself";
  EXPECT_NEAR(one_after_zero / own[0], 0.75, 0.01) << "drawn again until it differs";
  EXPECT_NEAR(repeated / kCount, 0.6 / 6 + 0.3 / 3 + 0.1, 0.01);
  EXPECT_THAT(error_of([&] { internal::scripted_comparisons({1, 1}, 1, random); }), HasSubstr("two classes"));
}

// Two pieces, |x|: rows of one sign are at one divergence, the file's order decides, and the first is dropped.
TEST(Scripted, RankingDropsTheFirstOfAListInTheOrderOfTheFile) {
  Matrix slopes(2, 1);
  slopes << 1, -1;
  const MaxAffine divergence(slopes, Vector::Zero(2));
  const Matrix rows = column({1, 2, 3, -1});
  const std::vector<int> classes = {0, 1, 0, 1};
  // Of the queries 0, 1 and 2 the list is 0 1 2 3, of which row 0 is dropped, of query 3 it is 3 0 1 2.
  // 0: (1 2 3) has its class at place 2. 1: at places 1 (itself) and 3. 2: at place 2. 3: (0 1 2) at place 2.
  const internal::ScriptedRanking found = internal::scripted_ranking(divergence, rows, classes);
  EXPECT_DOUBLE_EQ(found.average_precision, (0.5 + (1 + 2.0 / 3) / 2 + 0.5 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(found.auc, (0.5 + 0.5 + 0.5 + 0.5) / 4);
}

TEST(Scripted, AClusterThatEmptiesStaysEmpty) {
  const Matrix rows = column({0, 1, 10, 11});
  const std::vector<int> two = internal::scripted_clusters(SquaredEuclidean(), rows, column({0, 5, 100}));
  EXPECT_EQ(two, (std::vector<int>{0, 0, 1, 1})) << "nothing is nearest to 100";
  const std::vector<int> moved = internal::scripted_clusters(SquaredEuclidean(), rows, column({-5, 8}));
  EXPECT_EQ(moved, (std::vector<int>{0, 0, 1, 1}));
}

TEST(Scripted, EqualVotesGoToTheLowestClass) {
  const Matrix train = column({0, 1, 2, 3, 4, 9}), test = column({0, 9});
  // Of the first query 2 votes for class 7, 2 for class 3, 1 for class 5.
  EXPECT_EQ(internal::scripted_accuracy(SquaredEuclidean(), train, std::vector<int>{7, 7, 3, 3, 5, 5}, test,
                                        std::vector<int>{3, 0}),
            0.5);
}

TEST(Scripted, ARunChoosesLambdaFromTheGridOfTheScript) {
  const ProtocolRow& row = protocol_row("pbdl-as-scripted");
  const RunRequest request{"iris", 0, 0, KMeansStart::kEuclidean};
  const auto scores = run_protocol(testing::tiny_dataset().table, {row}, request);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_THAT(scores[0].note, ContainsRegex("script_lambda=(1e-05|0\\.|1|10)"));
  EXPECT_EQ(scores[0].per_measure, run_protocol(testing::tiny_dataset().table, {row}, request)[0].per_measure);
  const auto other = run_protocol(testing::tiny_dataset().table, {row}, {"iris", 1, 0, KMeansStart::kEuclidean});
  EXPECT_NE(other[0].per_measure, scores[0].per_measure);
}

TEST(Scripted, StopsWithoutAResult) {
  const std::atomic<bool> stop{true};
  RunControl control;
  control.stop = &stop;
  EXPECT_TRUE(run_protocol(testing::tiny_dataset().table, {protocol_row("pbdl-as-scripted")},
                           {"iris", 0, 0, KMeansStart::kEuclidean}, control)
                  .empty());
}

}  // namespace
}  // namespace bregmax
