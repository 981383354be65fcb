#include "bregmax/divergence/feature_norms.hpp"

#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/network_embedding.hpp"

namespace bregmax {

std::optional<Vector> feature_norms(const Divergence& divergence) {
  if (const auto* smooth = dynamic_cast<const LogSumExpQuadratic*>(&divergence)) return smooth->feature_norms();
  if (const auto* network = dynamic_cast<const NetworkEmbedding*>(&divergence)) {
    return network->layers().front().weights.colwise().norm().transpose();
  }
  if (const auto* mahalanobis = dynamic_cast<const Mahalanobis*>(&divergence)) {
    return mahalanobis->metric().diagonal().cwiseMax(0).cwiseSqrt();
  }
  const auto pieces = max_affine_pieces(divergence);
  if (!pieces) return std::nullopt;
  const Matrix centred = pieces->slopes.rowwise() - pieces->slopes.colwise().mean();
  return centred.colwise().norm().transpose();
}

}  // namespace bregmax
