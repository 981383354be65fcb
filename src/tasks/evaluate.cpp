#include "bregmax/tasks/evaluate.hpp"

#include <algorithm>
#include <set>

#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/scores.hpp"
#include "core/checks.hpp"

namespace bregmax {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void score_clustering(const Divergence& divergence, const MatrixView& rows, std::span<const int> classes,
                      const EvaluationOptions& options, const RunControl& control, EvaluationScores& scores) {
  const KMeansResult result = kmeans(divergence, rows,
                                     {.clusters = std::ssize(std::set<int>(classes.begin(), classes.end())),
                                      .start = options.start,
                                      .restarts = options.restarts,
                                      .seed = options.seed,
                                      .keep_restarts = true},
                                     control);
  const auto median_of = [&](double (*score)(std::span<const int>, std::span<const int>)) {
    std::vector<double> values;
    values.reserve(result.restarts.size());
    for (const KMeansRun& run : result.restarts) values.push_back(score(run.cluster_of_row, classes));
    return median(std::move(values));
  };
  scores.rand_index = median_of(rand_index);
  scores.adjusted_rand_index = median_of(adjusted_rand_index);
  scores.normalised_mutual_information = median_of(normalised_mutual_information);
  scores.purity = median_of(purity);
  scores.stopped = scores.stopped || result.stopped;
}

}  // namespace

EvaluationScores evaluate(const Divergence& divergence, const MatrixView& test_rows, std::span<const int> test_classes,
                          const EvaluationOptions& options, const RunControl& control) {
  internal::check_not_empty(test_rows, "test_rows");
  internal::check_classes(test_classes, test_rows.rows(), "test_classes");
  EvaluationScores scores;
  static_cast<RankingSummary&>(scores) =
      evaluate_ranking(divergence, test_rows, test_classes, options.precision_at, control);
  if (!scores.stopped) score_clustering(divergence, test_rows, test_classes, options, control, scores);
  return scores;
}

EvaluationScores evaluate(const Divergence& divergence, const MatrixView& test_rows, std::span<const int> test_classes,
                          const MatrixView& train_rows, std::span<const int> train_classes,
                          const EvaluationOptions& options, const RunControl& control) {
  internal::check_not_empty(train_rows, "train_rows");
  internal::check_same_features(train_rows, "train_rows", test_rows, "test_rows");
  internal::check_classes(train_classes, train_rows.rows(), "train_classes");
  internal::check_range(options.k, 1, train_rows.rows(), "k", "the number of training rows");
  EvaluationScores scores = evaluate(divergence, test_rows, test_classes, options, control);
  if (scores.stopped) return scores;
  const Classification classification = classify_nearest(divergence, train_rows, train_classes, test_rows, options.k);
  scores.knn_accuracy = expected_accuracy(classification, test_classes);
  return scores;
}

}  // namespace bregmax
