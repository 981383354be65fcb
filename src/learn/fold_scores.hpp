#pragma once

#include "bregmax/learn/tune.hpp"

namespace bregmax::internal {

// One number a measure, in the order of kAllMeasures; NaN: not defined on this fold.
using MeasureScores = std::array<double, kAllMeasures.size()>;

MeasureScores score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                            const RunControl& control);

// The losses of the items under the divergence itself, by their weights, and the sum of those.
struct LossSum {
  double loss = 0, weight = 0;
};
LossSum sum_losses(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items);
// NaN without items.
double mean_loss(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items);

}  // namespace bregmax::internal
