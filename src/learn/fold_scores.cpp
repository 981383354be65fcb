#include "learn/fold_scores.hpp"

#include <algorithm>
#include <limits>

#include "methods/item_losses.hpp"

namespace bregmax::internal {

MeasureScores score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                            const RunControl& control) {
  MeasureScores scores;
  scores.fill(std::numeric_limits<double>::quiet_NaN());
  const auto put = [&](Measure measure, double score) { scores[static_cast<std::size_t>(measure)] = score; };
  if (fold.held_out_rows.rows() > 0) {
    EvaluationOptions cut = options;
    cut.k = std::min(options.k, fold.train_rows.rows());
    const Matrix held_out = model.scaling.apply(fold.held_out_rows), train = model.scaling.apply(fold.train_rows);
    const EvaluationScores found =
        evaluate(*model.divergence, held_out, fold.held_out_classes, train, fold.train_classes, cut, control);
    put(Measure::kRandIndex, found.rand_index);
    put(Measure::kPurity, found.purity);
    put(Measure::kAuc, found.auc);
    put(Measure::kAveragePrecision, found.average_precision);
    put(Measure::kKnn, found.knn_accuracy);
  }
  if (fold.loss_rows.rows() > 0) {
    put(Measure::kLoss, mean_loss(*model.divergence, model.scaling.apply(fold.loss_rows), fold.loss_items));
  }
  return scores;
}

}  // namespace bregmax::internal
