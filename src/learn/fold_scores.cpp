#include "learn/fold_scores.hpp"

#include <algorithm>
#include <limits>

#include "methods/item_losses.hpp"

namespace bregmax::internal {

MeasureScores score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                            const RunControl& control) {
  MeasureScores scores;
  scores.fill(std::numeric_limits<double>::quiet_NaN());
  if (fold.held_out_rows.rows() > 0) {
    EvaluationOptions cut = options;
    cut.k = std::min(options.k, fold.train_rows.rows());
    const Matrix held_out = model.scaling.apply(fold.held_out_rows), train = model.scaling.apply(fold.train_rows);
    const EvaluationScores found =
        evaluate(*model.divergence, held_out, fold.held_out_classes, train, fold.train_classes, cut, control);
    scores = {found.rand_index, found.purity, found.auc, found.average_precision, found.knn_accuracy, scores.back()};
  }
  if (fold.loss_rows.rows() > 0) {
    scores.back() = mean_loss(*model.divergence, model.scaling.apply(fold.loss_rows), fold.loss_items);
  }
  return scores;
}

}  // namespace bregmax::internal
