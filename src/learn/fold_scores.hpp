#pragma once

#include "bregmax/learn/tune.hpp"

namespace bregmax::internal {

// One number per measure, in the order of kAllMeasures; NaN: not defined on this fold.
using MeasureScores = std::array<double, kAllMeasures.size()>;

MeasureScores score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                            const RunControl& control);

}  // namespace bregmax::internal
