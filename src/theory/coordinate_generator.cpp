#include "theory/coordinate_generator.hpp"

#include <cmath>

#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "core/checks.hpp"

namespace bregmax::internal {

void check_box(const Box& box) {
  require(box.dimension() >= 1, "the center of the box is empty; allowed: one coordinate or more");
  require(box.center.allFinite(), "the center of the box is not finite");
  require(box.radius > 0 && std::isfinite(box.radius), "the radius of the box is {}; allowed: a finite number > 0",
          box.radius);
}

Chart chart_of(const Divergence& divergence) {
  if (dynamic_cast<const KullbackLeibler*>(&divergence) != nullptr) return Chart::kSimplex;
  if (dynamic_cast<const LogDet*>(&divergence) != nullptr) return Chart::kSymmetric;
  if (const auto* average = dynamic_cast<const AverageDivergence*>(&divergence)) {
    for (const auto& member : average->members()) {
      require(chart_of(*member) == Chart::kIdentity,
              "the generator is an average with the member {}, whose domain has no interior; allowed: averages of "
              "generators on boxes",
              member->name());
    }
  }
  return Chart::kIdentity;
}

Index symmetric_order(Index dimension) {
  Index order = 1;
  while (order * (order + 1) / 2 < dimension) ++order;
  require(order * (order + 1) / 2 == dimension,
          "dimension is {}; allowed for logdet: 1, 3, 6, 10, ... (the entries of the upper triangle of a matrix)",
          dimension);
  return order;
}

CoordinateGenerator::CoordinateGenerator(const Divergence& divergence, Index dimension)
    : divergence_(divergence), chart_(chart_of(divergence)), dimension_(dimension) {
  require(dimension >= 1, "dimension is {}; allowed: a whole number >= 1", dimension);
  if (chart_ == Chart::kSymmetric) symmetric_order(dimension);
  require(divergence.dimension() == 0 || divergence.dimension() == dimension,
          "dimension is {}; the generator {} has {} features", dimension, divergence.name(), divergence.dimension());
}

namespace {

// The coordinate that each entry of a flattened symmetric matrix is.
std::vector<Index> coordinates_of_entries(Index dimension) {
  const Index order = symmetric_order(dimension);
  std::vector<Index> coordinates(order * order);
  Index at = 0;
  for (Index i = 0; i < order; ++i) {
    for (Index j = i; j < order; ++j, ++at) coordinates[i * order + j] = coordinates[j * order + i] = at;
  }
  return coordinates;
}

}  // namespace

Matrix CoordinateGenerator::features(const MatrixView& coordinates) const {
  if (chart_ == Chart::kIdentity) return coordinates;
  if (chart_ == Chart::kSimplex) {
    Matrix out(coordinates.rows(), dimension_ + 1);
    out.leftCols(dimension_) = coordinates;
    out.col(dimension_) = 1 - coordinates.rowwise().sum().array();
    return out;
  }
  const std::vector<Index> coordinate_of = coordinates_of_entries(dimension_);
  return coordinates(Eigen::all, coordinate_of);
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
  const std::vector<Index> coordinate_of = coordinates_of_entries(dimension_);
  Matrix out = Matrix::Zero(coordinates.rows(), dimension_);
  for (Index f = 0; f < over_features.cols(); ++f) out.col(coordinate_of[f]) += over_features.col(f);
  return out;
}

Vector CoordinateGenerator::divergences(const MatrixView& points, const MatrixView& references) const {
  return divergence_.rowwise(features(points), features(references));
}

}  // namespace bregmax::internal
