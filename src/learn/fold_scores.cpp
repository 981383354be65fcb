#include "learn/fold_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bregmax/methods/pbdl.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/scores.hpp"
#include "methods/item_losses.hpp"

namespace bregmax {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

}  // namespace

internal::FoldScores internal::score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                                             const RunControl& control) {
  FoldScores on_fold;
  MeasureScores& scores = on_fold.scores;
  scores.fill(kNoScore);
  if (fold.held_out_targets.size() > 0) {
    const Matrix held_out = model.scaling.apply(fold.held_out_rows), train = model.scaling.apply(fold.train_rows);
    const Vector predicted = regress_nearest(*model.divergence, train, fold.train_targets, held_out,
                                             std::min(options.k, fold.train_rows.rows()));
    scores[static_cast<std::size_t>(Measure::kR2)] = regression_scores(fold.held_out_targets, predicted).r2;
  } else if (fold.held_out_rows.rows() > 0) {
    EvaluationOptions cut = options;
    cut.k = std::min(options.k, fold.train_rows.rows());
    const Matrix held_out = model.scaling.apply(fold.held_out_rows), train = model.scaling.apply(fold.train_rows);
    const EvaluationScores found =
        evaluate(*model.divergence, held_out, fold.held_out_classes, train, fold.train_classes, cut, control);
    scores = {found.rand_index,   found.purity, found.auc, found.average_precision,
              found.knn_accuracy, kNoScore,     kNoScore,  kNoScore};
  }
  if (fold.loss_rows.rows() > 0) {
    const Matrix rows = model.scaling.apply(fold.loss_rows);
    scores[static_cast<std::size_t>(Measure::kLoss)] = internal::mean_loss(*model.divergence, rows, fold.loss_items);
    scores[static_cast<std::size_t>(Measure::kAgreement)] =
        internal::agreement(*model.divergence, rows, fold.loss_items);
    on_fold.constant = is_constant(*model.divergence, rows);
  }
  return on_fold;
}

std::pair<double, double> internal::mean_and_error(const std::vector<double>& known) {
  if (known.empty()) return {kNoScore, kNoScore};
  const Eigen::Map<const Vector> values(known.data(), std::ssize(known));
  const double mean = values.mean();
  if (known.size() < 2) return {mean, kNoScore};
  const auto count = static_cast<double>(known.size());
  return {mean, std::sqrt((values.array() - mean).square().sum() / (count - 1) / count)};
}

}  // namespace bregmax
