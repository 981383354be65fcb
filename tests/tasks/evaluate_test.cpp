#include "bregmax/tasks/evaluate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/ranking.hpp"
#include "bregmax/tasks/scores.hpp"
#include "tasks/cases.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Classes = std::vector<int>;

struct Split {
  Matrix test_rows, train_rows;
  Classes test_classes, train_classes;
};

Split random_split(const test::Case& parameters, Random& random) {
  return {parameters.rows(random, 60, 4), parameters.rows(random, 100, 4), test::random_classes(random, 60, 3),
          test::random_classes(random, 100, 3)};
}

EvaluationScores evaluate_split(const Divergence& divergence, const Split& split, const EvaluationOptions& options) {
  return evaluate(divergence, split.test_rows, split.test_classes, split.train_rows, split.train_classes, options);
}

class EvaluationOfEveryDivergence : public testing::TestWithParam<test::Case> {};

TEST_P(EvaluationOfEveryDivergence, PutsTheTasksTogether) {
  Random random(41);
  const Divergence& divergence = *GetParam().divergence;
  const Split split = random_split(GetParam(), random);
  const EvaluationScores found = evaluate_split(divergence, split, {.restarts = 7, .seed = 3, .precision_at = 4});

  const KMeansResult clustering =
      kmeans(divergence, split.test_rows, {.clusters = 3, .restarts = 7, .seed = 3, .keep_restarts = true});
  const auto median = [&](auto score) {
    std::vector<double> values;
    for (const KMeansRun& run : clustering.restarts) values.push_back(score(run.cluster_of_row, split.test_classes));
    std::sort(values.begin(), values.end());
    return values[3];
  };
  EXPECT_EQ(found.rand_index, median(rand_index));
  EXPECT_EQ(found.adjusted_rand_index, median(adjusted_rand_index));
  EXPECT_EQ(found.normalised_mutual_information, median(normalised_mutual_information));
  EXPECT_EQ(found.purity, median(purity));

  const RankingSummary ranking = evaluate_ranking(divergence, split.test_rows, split.test_classes, 4);
  EXPECT_EQ(found.auc, ranking.auc);
  EXPECT_EQ(found.average_precision, ranking.average_precision);
  EXPECT_EQ(found.precision_at_k, ranking.precision_at_k);
  EXPECT_EQ(found.queries, 60);

  const auto classified = classify_nearest(divergence, split.train_rows, split.train_classes, split.test_rows);
  EXPECT_EQ(found.knn_accuracy, expected_accuracy(classified, split.test_classes));
  EXPECT_FALSE(found.stopped);
}

TEST_P(EvaluationOfEveryDivergence, IgnoresRowOrderNamesAndThreads) {
  Random random(42);
  const Split split = random_split(GetParam(), random);
  const EvaluationOptions options{.restarts = 4};
  const EvaluationScores first = evaluate_split(*GetParam().divergence, split, options);
  for (int repeat = 0; repeat < 4; ++repeat) {
    const ThreadLimit limit(1 + repeat % 2);
    const auto test_order = random.permutation(60), train_order = random.permutation(100);
    const Split other{test::permuted(split.test_rows, test_order), test::permuted(split.train_rows, train_order),
                      test::renamed(test::permuted(split.test_classes, test_order)),
                      test::renamed(test::permuted(split.train_classes, train_order))};
    const EvaluationScores again = evaluate_split(*GetParam().divergence, other, options);
    EXPECT_EQ(first.rand_index, again.rand_index);
    EXPECT_EQ(first.adjusted_rand_index, again.adjusted_rand_index);
    EXPECT_EQ(first.normalised_mutual_information, again.normalised_mutual_information);
    EXPECT_EQ(first.purity, again.purity);
    EXPECT_EQ(first.auc, again.auc);
    EXPECT_EQ(first.average_precision, again.average_precision);
    EXPECT_EQ(first.knn_accuracy, again.knn_accuracy);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EvaluationOfEveryDivergence, testing::ValuesIn(test::all_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Evaluation, MedianOfAnEvenNumberOfRestartsIsTheMeanOfTheMiddleTwo) {
  Random random(43);
  const Matrix rows = test::normal_rows(random, 40, 2);
  const Classes classes = test::random_classes(random, 40, 5);
  const auto runs = kmeans(SquaredEuclidean(), rows, {.clusters = 5, .restarts = 4, .keep_restarts = true}).restarts;
  std::vector<double> values;
  for (const KMeansRun& run : runs) values.push_back(rand_index(run.cluster_of_row, classes));
  std::sort(values.begin(), values.end());
  EXPECT_DOUBLE_EQ(evaluate(SquaredEuclidean(), rows, classes, {.restarts = 4}).rand_index,
                   (values[1] + values[2]) / 2);
}

TEST(Evaluation, OneClassOnlyAndNoTrainingRows) {
  Random random(44);
  const EvaluationScores scores = evaluate(SquaredEuclidean(), test::normal_rows(random, 8, 2), Classes(8, 1));
  EXPECT_EQ(scores.rand_index, 1);
  EXPECT_EQ(scores.purity, 1);
  EXPECT_TRUE(std::isnan(scores.auc));
  EXPECT_EQ(scores.skipped_queries, 8);
  EXPECT_TRUE(std::isnan(scores.knn_accuracy));
}

TEST(Evaluation, OneRow) {
  const EvaluationScores scores =
      evaluate(SquaredEuclidean(), Matrix::Ones(1, 2), Classes{0}, Matrix::Ones(1, 2), Classes{0}, {.k = 1});
  EXPECT_EQ(scores.rand_index, 1);
  EXPECT_EQ(scores.knn_accuracy, 1);
  EXPECT_TRUE(std::isnan(scores.average_precision));
}

TEST(Evaluation, StopsOnRequest) {
  const std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  const EvaluationScores scores =
      evaluate(SquaredEuclidean(), Matrix::Random(5, 2), Classes{0, 1, 0, 1, 0}, {}, control);
  EXPECT_TRUE(scores.stopped);
  EXPECT_TRUE(std::isnan(scores.rand_index));
}

TEST(Evaluation, RefusesBadInput) {
  const Matrix rows = Matrix::Random(4, 2);
  const Classes classes{0, 1, 0, 1};
  const SquaredEuclidean divergence;
  EXPECT_THAT([&] { evaluate(divergence, rows, Classes{0}); }, ThrowsMessage<Error>(HasSubstr("test_classes has 1")));
  EXPECT_THAT([&] { evaluate(divergence, rows, classes, rows, classes); },
              ThrowsMessage<Error>(HasSubstr("k is 5; allowed: 1 to 4 (the number of training rows)")));
  EXPECT_THAT([&] { evaluate(divergence, rows, classes, {.restarts = 0}); },
              ThrowsMessage<Error>(HasSubstr("restarts is 0")));
  EXPECT_THAT([&] { evaluate(divergence, rows, classes, Matrix::Random(9, 3), Classes(9)); },
              ThrowsMessage<Error>(HasSubstr("train_rows has 3 features")));
}

// Large enough for every task to use its threads.
TEST(Evaluation, IsTheSameForEveryNumberOfThreads) {
  for (const auto& parameters : test::all_cases()) {
    Random random(47);
    const Matrix rows = parameters.rows(random, 900, 4);
    const Matrix train = parameters.rows(random, 400, 4);
    const Classes classes = test::random_classes(random, 900, 40),
                  train_classes = test::random_classes(random, 400, 40);
    std::vector<EvaluationScores> scores;
    for (const int threads : {1, 2, 3}) {
      const ThreadLimit limit(threads);
      scores.push_back(
          evaluate(*parameters.divergence, rows, classes, train, train_classes, {.restarts = 5, .seed = 1}));
    }
    for (const EvaluationScores& other : scores) {
      EXPECT_EQ(scores[0].rand_index, other.rand_index) << parameters.name;
      EXPECT_EQ(scores[0].normalised_mutual_information, other.normalised_mutual_information) << parameters.name;
      EXPECT_EQ(scores[0].auc, other.auc) << parameters.name;
      EXPECT_EQ(scores[0].average_precision, other.average_precision) << parameters.name;
      EXPECT_EQ(scores[0].knn_accuracy, other.knn_accuracy) << parameters.name;
    }
  }
}

// The mean AUC of all rows as queries, from the numbers of rows of each class on each piece.
double auc_by_pieces(const MaxAffine& divergence, const MatrixView& rows, const Classes& classes) {
  const std::vector<int> piece_of_row = divergence.pieces_of(rows);
  std::map<int, Index> row_of_piece;
  std::map<std::pair<int, int>, double> rows_of;  // by piece and class
  std::map<int, double> rows_of_class;
  for (std::size_t row = 0; row < classes.size(); ++row) {
    row_of_piece.emplace(piece_of_row[row], static_cast<Index>(row));
    ++rows_of[{piece_of_row[row], classes[row]}];
    ++rows_of_class[classes[row]];
  }
  Matrix references(static_cast<Index>(row_of_piece.size()), rows.cols());
  std::vector<int> pieces;
  for (const auto& [piece, row] : row_of_piece) {
    references.row(static_cast<Index>(pieces.size())) = rows.row(row);
    pieces.push_back(piece);
  }
  const Matrix divergences = divergence.matrix(rows, references);
  double sum = 0;
  for (std::size_t query = 0; query < classes.size(); ++query) {
    std::map<double, std::pair<double, double>> counts;  // by divergence: relevant and irrelevant candidates
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      auto& [relevant, irrelevant] = counts[divergences(static_cast<Index>(query), static_cast<Index>(p))];
      if (pieces[p] == piece_of_row[query]) --relevant;  // the query itself
      for (const auto& [class_number, total] : rows_of_class) {
        const auto found = rows_of.find({pieces[p], class_number});
        if (found != rows_of.end()) (class_number == classes[query] ? relevant : irrelevant) += found->second;
      }
    }
    double nearer_relevant = 0, ordered = 0, irrelevant_total = 0;
    for (const auto& [distance, count] : counts) {
      ordered += (nearer_relevant + count.first / 2) * count.second;
      nearer_relevant += count.first;
      irrelevant_total += count.second;
    }
    sum += ordered / (nearer_relevant * irrelevant_total);
  }
  return sum / static_cast<double>(classes.size());
}

// 20,000 x 20,000 divergences would be 3.2 GB; a block is 16 MB.
TEST(Evaluation, TwentyThousandRowsOnAMaxAffineDivergence) {
  Random random(45);
  const auto divergence = test::integer_max_affine(random, 100, 5);
  Matrix rows = test::normal_rows(random, 20000, 5);
  const Classes classes = test::random_classes(random, 20000, 4);
  for (Index i = 0; i < rows.rows(); ++i) rows(i, 0) += classes[static_cast<std::size_t>(i)];
  const EvaluationScores scores =
      evaluate(*divergence, rows, classes, rows.topRows(5000), std::span(classes).first(5000), {.restarts = 2});
  EXPECT_EQ(scores.queries, 20000);
  EXPECT_NEAR(scores.auc, auc_by_pieces(dynamic_cast<const MaxAffine&>(*divergence), rows, classes), 1e-12);
  double correct = 0;
  for (Index first = 0; first < 20000; first += 1000) {
    const auto some = classify_nearest(*divergence, rows.topRows(5000), std::span(classes).first(5000),
                                       rows.middleRows(first, 1000), 5);
    correct += 1000 * expected_accuracy(some, std::span(classes).subspan(static_cast<std::size_t>(first), 1000));
  }
  EXPECT_NEAR(scores.knn_accuracy, correct / 20000, 1e-12);
}

TEST(Evaluation, TwentyThousandRowsClusteredAndClassifiedWithoutTies) {
  Random random(46);
  const Matrix rows = test::normal_rows(random, 20000, 5);
  const Classes classes = test::random_classes(random, 20000, 3);
  const KMeansResult clustering = kmeans(SquaredEuclidean(), rows, {.clusters = 10, .restarts = 1});
  double objective = 0;
  for (Index row = 0; row < rows.rows(); ++row) {
    const int cluster = clustering.best.cluster_of_row[static_cast<std::size_t>(row)];
    objective += (rows.row(row) - clustering.best.centroids.row(cluster)).squaredNorm();
  }
  EXPECT_NEAR(clustering.best.objective, objective, 1e-10 * objective);
  const auto classified = classify_nearest(SquaredEuclidean(), rows, classes, rows.topRows(2000), 1);
  EXPECT_EQ(expected_accuracy(classified, std::span(classes).first(2000)), 1);
}

}  // namespace
}  // namespace bregmax
