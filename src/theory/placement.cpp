#include "theory/placement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/products.hpp"

namespace bregmax::internal {
namespace {

// Row r of the result has the digits of r in base `per_axis`, first axis slowest, as whole numbers.
Matrix lattice_digits(Index per_axis, Index dimension) {
  const Index rows = lattice_size(per_axis, dimension, std::numeric_limits<int>::max());
  Matrix digits(rows, dimension);
  for (Index r = 0; r < rows; ++r) {
    Index rest = r;
    for (Index axis = dimension - 1; axis >= 0; --axis, rest /= per_axis) {
      digits(r, axis) = static_cast<double>(rest % per_axis);
    }
  }
  return digits;
}

Matrix greedy_candidates(const Box& box, Index count, std::uint64_t seed) {
  Random random(seed);
  const Index corners = lattice_size(2, box.dimension(), count);
  Matrix inside = random_points(box, count, random);
  if (corners > count) return inside;
  Matrix all(count + corners, box.dimension());
  all << inside, lattice_points(box, 2);
  return all;
}

}  // namespace

Index lattice_size(Index per_axis, Index dimension, Index most) {
  Index size = 1;
  for (Index axis = 0; axis < dimension; ++axis) {
    if (size > most / per_axis) return most + 1;
    size *= per_axis;
  }
  return size;
}

Index cells_per_axis(Index pieces, Index dimension) {
  auto cells = static_cast<Index>(std::pow(static_cast<double>(pieces), 1 / static_cast<double>(dimension)));
  cells = std::max<Index>(cells, 1);
  // The root of an exact power may be rounded to either side.
  while (cells > 1 && lattice_size(cells, dimension, pieces) > pieces) --cells;
  while (lattice_size(cells + 1, dimension, pieces) <= pieces) ++cells;
  return cells;
}

Matrix grid_anchors(const Box& box, Index cells) {
  Matrix anchors = lattice_digits(cells, box.dimension());
  const double half_width = box.radius / static_cast<double>(cells);
  anchors = ((2 * anchors.array() + 1) * half_width - box.radius).matrix();
  anchors.rowwise() += box.center.transpose();
  return anchors;
}

Matrix random_points(const Box& box, Index count, Random& random) {
  Matrix points(count, box.dimension());
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < points.cols(); ++j) points(i, j) = box.center(j) + box.radius * (2 * random.uniform() - 1);
  }
  return points;
}

Matrix lattice_points(const Box& box, Index per_axis) {
  Matrix points = lattice_digits(per_axis, box.dimension());
  points = (points.array() * (2 * box.radius / static_cast<double>(per_axis - 1)) - box.radius).matrix();
  points.rowwise() += box.center.transpose();
  // Rounding must not push a point out of a box that touches the edge of the domain.
  const Vector low = box.lower(), high = box.upper();
  for (Index j = 0; j < points.cols(); ++j) points.col(j) = points.col(j).cwiseMax(low(j)).cwiseMin(high(j));
  return points;
}

Matrix greedy_anchors(const CoordinateGenerator& generator, const Box& box, Index pieces, Index candidates,
                      std::uint64_t seed, const RunControl& control) {
  const Matrix points = greedy_candidates(box, candidates, seed);
  const Vector values = generator.values(points);
  const double rounding = 1e-14 * (1 + values.cwiseAbs().maxCoeff());
  Vector error = Vector::Constant(points.rows(), std::numeric_limits<double>::infinity());
  Matrix anchors(pieces, box.dimension());
  Vector anchor = box.center;
  for (Index piece = 0; piece < pieces; ++piece) {
    if (control.stop_requested()) return anchors.topRows(piece);
    anchors.row(piece) = anchor.transpose();
    const Vector slope = generator.gradients(anchor.transpose()).row(0);
    const double offset = generator.values(anchor.transpose())(0) - slope.dot(anchor);
    error = error.cwiseMin(values - internal::apply(points, slope) - Vector::Constant(points.rows(), offset));
    Index worst = 0;
    if (error.maxCoeff(&worst) <= rounding) return anchors.topRows(piece + 1);
    anchor = points.row(worst);
  }
  return anchors;
}

}  // namespace bregmax::internal
