#pragma once

#include <optional>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// By how much the divergence reads each feature: the norm of the numbers that multiply it. 0: no divergence depends on
// the feature. Norms of one divergence compare with each other, in the units of its (scaled) features.
//
// max_affine, smoothed_max_affine, log_sum_exp_quadratic: the column of the feature in (slopes less their mean, G);
// mahalanobis: in L with L^T L the matrix; network_embedding: in the weights of the first layer. No value for other
// divergences.
std::optional<Vector> feature_norms(const Divergence& divergence);

}  // namespace bregmax
