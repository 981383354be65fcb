#pragma once

#include "bregmax/core/supervision.hpp"
#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// The losses of the items under the divergence itself, times their weights, and the sum of the weights.
struct LossSum {
  double loss = 0, weight = 0;
};
LossSum sum_losses(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items);
// NaN without items.
double mean_loss(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items);
// The weighted share of the comparisons that hold, or the probability that a similar pair is closer than a dissimilar
// one; ties count half. NaN for targets, and where there is nothing to compare.
double agreement(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items);
// The losses of the zero model, whose divergences are all 0.
LossSum zero_model_losses(const Supervision& items);

}  // namespace bregmax::internal
