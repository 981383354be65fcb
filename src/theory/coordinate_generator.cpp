#include "theory/coordinate_generator.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/closed_forms.hpp"

namespace bregmax::internal {

Chart chart_of(const Divergence& divergence) {
  if (dynamic_cast<const KullbackLeibler*>(&divergence) != nullptr) return Chart::kSimplex;
  if (dynamic_cast<const LogDet*>(&divergence) != nullptr) return Chart::kSymmetric;
  if (const auto* average = dynamic_cast<const AverageDivergence*>(&divergence)) {
    for (const auto& member : average->members()) {
      if (chart_of(*member) == Chart::kIdentity) continue;
      throw Error(
          fmt::format("the generator is an average with the member {}, whose domain has no interior; allowed: "
                      "averages of generators on boxes",
                      member->name()));
    }
  }
  return Chart::kIdentity;
}

Index symmetric_order(Index dimension) {
  Index order = 1;
  while (order * (order + 1) / 2 < dimension) ++order;
  if (order * (order + 1) / 2 == dimension) return order;
  throw Error(fmt::format(
      "dimension is {}; allowed for logdet: 1, 3, 6, 10, ... (the entries of the upper triangle of a matrix)",
      dimension));
}

CoordinateGenerator::CoordinateGenerator(const Divergence& divergence, Index dimension)
    : divergence_(divergence), chart_(chart_of(divergence)), dimension_(dimension) {
  if (dimension < 1) throw Error(fmt::format("dimension is {}; allowed: a whole number >= 1", dimension));
  if (chart_ == Chart::kSymmetric) symmetric_order(dimension);
  if (divergence.dimension() != 0 && divergence.dimension() != dimension) {
    throw Error(fmt::format("dimension is {}; the generator {} has {} features", dimension, divergence.name(),
                            divergence.dimension()));
  }
}

Matrix CoordinateGenerator::features(const MatrixView& coordinates) const {
  if (chart_ == Chart::kIdentity) return coordinates;
  if (chart_ == Chart::kSimplex) {
    Matrix out(coordinates.rows(), dimension_ + 1);
    out.leftCols(dimension_) = coordinates;
    out.col(dimension_) = 1 - coordinates.rowwise().sum().array();
    return out;
  }
  const Index order = symmetric_order(dimension_);
  Matrix out(coordinates.rows(), order * order);
  Index at = 0;
  for (Index i = 0; i < order; ++i) {
    for (Index j = i; j < order; ++j, ++at) {
      out.col(i * order + j) = coordinates.col(at);
      out.col(j * order + i) = coordinates.col(at);
    }
  }
  return out;
}

Vector CoordinateGenerator::values(const MatrixView& coordinates) const {
  return divergence_.generator_values(features(coordinates));
}

// The transpose of the chart's linear part, applied to the gradient over the features.
Matrix CoordinateGenerator::gradients(const MatrixView& coordinates) const {
  Matrix over_features = divergence_.gradients(features(coordinates));
  if (chart_ == Chart::kIdentity) return over_features;
  if (chart_ == Chart::kSimplex) {
    return over_features.leftCols(dimension_).colwise() - over_features.col(dimension_);
  }
  const Index order = symmetric_order(dimension_);
  Matrix out(coordinates.rows(), dimension_);
  Index at = 0;
  for (Index i = 0; i < order; ++i) {
    for (Index j = i; j < order; ++j, ++at) {
      out.col(at) = over_features.col(i * order + j);
      if (j > i) out.col(at) += over_features.col(j * order + i);
    }
  }
  return out;
}

Vector CoordinateGenerator::divergences(const MatrixView& points, const MatrixView& references) const {
  return divergence_.rowwise(features(points), features(references));
}

}  // namespace bregmax::internal
