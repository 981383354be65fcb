#pragma once

#include "bregmax/baselines/baseline.hpp"

namespace bregmax {

// The squared Euclidean distance, with nothing learned: what every method is held against.
LearnedMetric learn_euclidean(const MatrixView& rows);

}  // namespace bregmax
