#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "bregmax/tasks/kmeans.hpp"
#include "bregmax/tasks/ranking.hpp"

namespace bregmax {

struct EvaluationOptions {
  Index k = 5;        // neighbours, 1 .. number of training rows
  int restarts = 20;  // of k-means, >= 1
  KMeansStart start = KMeansStart::kEuclidean;
  std::uint64_t seed = 0;
  Index precision_at = kPrecisionAt;  // >= 1
};

// Fractions. They depend neither on the order of the rows nor on the numbering of the classes. The scores of ranking
// are those of each test row as the query of all other test rows; NaN if every query was skipped (one class only).
// `stopped` by RunControl: scores may be missing (NaN) or cover a part of the work.
struct EvaluationScores : RankingSummary {
  // Clustering of the test rows into as many clusters as classes: each is the median over the restarts.
  double rand_index = std::numeric_limits<double>::quiet_NaN();
  double adjusted_rand_index = std::numeric_limits<double>::quiet_NaN();
  double normalised_mutual_information = std::numeric_limits<double>::quiet_NaN();
  double purity = std::numeric_limits<double>::quiet_NaN();
  // Test rows classified by the training rows (expected accuracy). NaN without training rows.
  double knn_accuracy = std::numeric_limits<double>::quiet_NaN();
};

EvaluationScores evaluate(const Divergence& divergence, const MatrixView& test_rows, std::span<const int> test_classes,
                          const EvaluationOptions& options = {}, const RunControl& control = {});

EvaluationScores evaluate(const Divergence& divergence, const MatrixView& test_rows, std::span<const int> test_classes,
                          const MatrixView& train_rows, std::span<const int> train_classes,
                          const EvaluationOptions& options = {}, const RunControl& control = {});

}  // namespace bregmax
