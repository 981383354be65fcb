#pragma once

#include <array>
#include <utility>
#include <vector>

#include "bregmax/learn/tune.hpp"

namespace bregmax::internal {

// One number per measure, in the order of kAllMeasures; NaN: not defined on this fold.
using MeasureScores = std::array<double, kAllMeasures.size()>;

struct FoldScores {
  MeasureScores scores;
  bool constant = false;  // the divergence tells no rows apart
};
FoldScores score_on_fold(const Model& model, const Fold& fold, const EvaluationOptions& options,
                         const RunControl& control);

// The mean and its standard error; NaN where there are too few values.
std::pair<double, double> mean_and_error(const std::vector<double>& known);

}  // namespace bregmax::internal
