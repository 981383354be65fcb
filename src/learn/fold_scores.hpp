#pragma once

#include "bregmax/learn/tune.hpp"

namespace bregmax::internal {

// One number a measure, in the order of kAllMeasures; NaN: not defined on this fold.
using MeasureScores = std::array<double, kAllMeasures.size()>;

MeasureScores score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                            const RunControl& control);

// The mean loss of the items (weighted by their weights) under the divergence itself; NaN without items.
double mean_loss(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items);

}  // namespace bregmax::internal
