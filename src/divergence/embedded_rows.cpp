#include "bregmax/divergence/embedded_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/squared_euclidean.hpp"
#include "core/symmetric.hpp"

namespace bregmax {
namespace {

// L^T with L^T L = matrix, from the eigenvalues that are not rounding; the largest comes first.
Matrix transposed_root(const Matrix& matrix) {
  constexpr double kRounding = 1e-12;
  const internal::SymmetricEigen eigen(matrix);
  const Index features = matrix.rows();
  const double largest = eigen.values(features - 1);
  Index rank = 1;
  while (rank < features && eigen.values(features - 1 - rank) > kRounding * largest) ++rank;
  Matrix root(features, rank);
  for (Index i = 0; i < rank; ++i) {
    const Index position = features - 1 - i;
    root.col(i) = std::sqrt(std::max(0.0, eigen.values(position))) * eigen.vectors.col(position);
  }
  return root;
}

}  // namespace

Matrix embedded_rows(const Divergence& divergence, const MatrixView& rows) {
  divergence.check_points(rows);
  if (const auto* embedding = dynamic_cast<const EmbeddingDivergence*>(&divergence)) return embedding->embed(rows);
  if (const auto* mahalanobis = dynamic_cast<const Mahalanobis*>(&divergence)) {
    return rows * transposed_root(mahalanobis->metric());
  }
  if (dynamic_cast<const SquaredEuclidean*>(&divergence) != nullptr) return rows;
  throw Error(fmt::format("the divergence {} is not a squared distance of embedded rows", divergence.name()));
}

}  // namespace bregmax
