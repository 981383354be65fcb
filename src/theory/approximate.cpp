#include "bregmax/theory/approximate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "theory/checks.hpp"
#include "theory/error_meter.hpp"
#include "theory/placement.hpp"

namespace bregmax {
namespace {

constexpr Index kMostPieces = 10'000'000;

void check_options(const ApproximationOptions& options) {
  if (options.pieces < 1 || options.pieces > kMostPieces) {
    throw Error(fmt::format("pieces is {}; allowed: a whole number from 1 to {}", options.pieces, kMostPieces));
  }
  if (options.samples < 1) throw Error(fmt::format("samples is {}; allowed: a whole number >= 1", options.samples));
  if (options.margin && !(*options.margin >= 0)) {
    throw Error(fmt::format("margin is {}; allowed: a number >= 0", *options.margin));
  }
}

// The tangents of phi at the anchors.
std::shared_ptr<const MaxAffine> tangents(const internal::CoordinateGenerator& generator, const Matrix& anchors) {
  Matrix slopes = generator.gradients(anchors);
  Vector offsets = generator.values(anchors) - slopes.cwiseProduct(anchors).rowwise().sum();
  return std::make_shared<MaxAffine>(std::move(slopes), std::move(offsets));
}

}  // namespace

ApproximationErrors approximation_bounds(double beta, double radius, Index pieces, Index dimension) {
  if (pieces < 1) throw Error(fmt::format("pieces is {}; allowed: a whole number >= 1", pieces));
  if (dimension < 1) throw Error(fmt::format("dimension is {}; allowed: a whole number >= 1", dimension));
  if (!(beta >= 0)) throw Error(fmt::format("beta is {}; allowed: a number >= 0", beta));
  if (!(radius > 0) || !std::isfinite(radius)) {
    throw Error(fmt::format("radius is {}; allowed: a finite number > 0", radius));
  }
  if (std::isinf(beta)) return {};
  const double cell = std::pow(static_cast<double>(pieces), -1 / static_cast<double>(dimension));
  return {4 * beta * radius * radius * cell * cell, 16 * beta * radius * cell, 36 * beta * radius * radius * cell};
}

Approximation approximate(const Divergence& divergence, const Box& box, const ApproximationOptions& options,
                          const RunControl& control) {
  check_options(options);
  internal::check_box(box);
  const internal::CoordinateGenerator generator(divergence, box.dimension());
  Approximation result;
  result.beta = smoothness(divergence, box);
  result.bounds = approximation_bounds(result.beta, box.radius, options.pieces, box.dimension());
  const Index cells = internal::cells_per_axis(options.pieces, box.dimension());
  result.margin = options.margin.value_or(4 * box.radius / static_cast<double>(cells));

  const bool grid = options.placement == Placement::kGrid;
  const Index candidates = std::max(options.samples, 8 * options.pieces);
  result.anchors =
      grid ? internal::grid_anchors(box, cells)
           : internal::greedy_anchors(generator, box, options.pieces, candidates, options.seed + 2, control);
  result.stopped = control.stop_requested();
  if (result.stopped) return result;
  result.approximator = tangents(generator, result.anchors);
  const internal::ErrorMeter meter(generator, *result.approximator);
  const internal::MeterPlan plan{box, result.margin, grid ? cells : 0, options.samples, options.seed};
  result.measured = internal::largest_errors(meter, plan, control);
  result.stopped = control.stop_requested();
  if (result.stopped) result.measured = {};
  return result;
}

}  // namespace bregmax
