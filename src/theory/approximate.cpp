#include "bregmax/theory/approximate.hpp"

#include <algorithm>
#include <cmath>

#include "core/checks.hpp"
#include "core/progress.hpp"
#include "theory/error_meter.hpp"
#include "theory/placement.hpp"

namespace bregmax {

using internal::require;

namespace {

constexpr Index kMostPieces = 10'000'000;

void check_options(const ApproximationOptions& options) {
  require(options.pieces >= 1 && options.pieces <= kMostPieces, "pieces is {}; allowed: a whole number from 1 to {}",
          options.pieces, kMostPieces);
  require(options.samples >= 1, "samples is {}; allowed: a whole number >= 1", options.samples);
  const double margin = options.margin.value_or(0);
  require(margin >= 0, "margin is {}; allowed: a number >= 0", margin);
}

// The tangents of phi at the anchors.
std::shared_ptr<const MaxAffine> tangents(const internal::CoordinateGenerator& generator, const Matrix& anchors) {
  Matrix slopes = generator.gradients(anchors);
  Vector offsets = generator.values(anchors) - slopes.cwiseProduct(anchors).rowwise().sum();
  return std::make_shared<MaxAffine>(std::move(slopes), std::move(offsets));
}

// ---- Sweeps ----

constexpr Index kFewestFirst = 8;    // where half the radius is the margin of the proof
constexpr Index kRangeOfCells = 8;   // last over first: rates are those of many pieces
constexpr Index kFewestLast = 12;    // less would leave no range to fit a slope to
constexpr double kStepsOfSweep = 7;  // at most one more approximation than this

// Cells per axis, spaced like a geometric series.
std::vector<Index> cells_of_sweep(Index last) {
  std::vector<Index> cells;
  const auto first = static_cast<double>(std::max(kFewestFirst, last / kRangeOfCells));
  const double ratio = std::pow(static_cast<double>(last) / first, 1 / kStepsOfSweep);
  for (int step = 0; step <= static_cast<int>(kStepsOfSweep); ++step) {
    const auto q = static_cast<Index>(std::lround(first * std::pow(ratio, step)));
    if (cells.empty() || q > cells.back()) cells.push_back(q);
  }
  return cells;
}

double exponent_of(const Sweep& sweep, double ApproximationErrors::*error) {
  std::vector<double> sizes, errors;
  for (const Approximation& step : sweep.steps) {
    // The number of pieces that there are: a greedy placement may need fewer than were asked for.
    sizes.push_back(static_cast<double>(step.anchors.rows()));
    errors.push_back(step.measured.*error);
    if (!(errors.back() > 0)) return std::numeric_limits<double>::quiet_NaN();  // an exact approximation has no rate
  }
  return fitted_exponent(sizes, errors);
}

}  // namespace

ApproximationErrors approximation_bounds(double beta, double radius, Index pieces, Index dimension) {
  require(pieces >= 1, "pieces is {}; allowed: a whole number >= 1", pieces);
  require(dimension >= 1, "dimension is {}; allowed: a whole number >= 1", dimension);
  require(beta >= 0, "beta is {}; allowed: a number >= 0", beta);
  require(radius > 0 && std::isfinite(radius), "radius is {}; allowed: a finite number > 0", radius);
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
  const internal::MeterPlan plan{box, result.margin, grid ? cells : 0, options.samples, options.seed};
  result.measured = internal::largest_errors(generator, *result.approximator, plan, control);
  result.stopped = control.stop_requested();
  if (result.stopped) result.measured = {};
  return result;
}

double fitted_exponent(const std::vector<double>& sizes, const std::vector<double>& errors) {
  require(sizes.size() == errors.size() && sizes.size() >= 2,
          "an exponent is fitted to two sizes or more, each with its error; found {} sizes and {} errors", sizes.size(),
          errors.size());
  const Eigen::Map<const Vector> all_sizes(sizes.data(), std::ssize(sizes)),
      all_errors(errors.data(), std::ssize(sizes));
  require(all_sizes.minCoeff() > 0 && all_errors.minCoeff() > 0, "an exponent is fitted to sizes and errors > 0");
  Vector x = all_sizes.array().log(), y = all_errors.array().log();
  x.array() -= x.mean();
  y.array() -= y.mean();
  require(x.squaredNorm() > 0, "an exponent is fitted to sizes that differ");
  return x.dot(y) / x.squaredNorm();
}

Sweep sweep_approximation(const Divergence& divergence, const Box& box, const ApproximationOptions& options,
                          const RunControl& control) {
  const Index dimension = box.dimension();
  const Index last = internal::cells_per_axis(std::max<Index>(options.pieces, 1), std::max<Index>(dimension, 1));
  require(last >= kFewestLast, "pieces is {0}; a sweep in dimension {1} needs at least {2} = {3}^{1}", options.pieces,
          dimension, std::pow(kFewestLast, dimension), kFewestLast);
  const internal::Stopwatch watch;
  Sweep sweep;
  const double d = static_cast<double>(dimension);
  sweep.theoretic_exponents = {-2 / d, -1 / d, -1 / d};
  const std::vector<Index> cells = cells_of_sweep(last);
  for (const Index q : cells) {
    const Index pieces = internal::lattice_size(q, dimension, options.pieces);
    Approximation step = approximate(
        divergence, box, {pieces, options.placement, box.radius / 2, options.samples, options.seed}, control);
    sweep.stopped = step.stopped;
    if (sweep.stopped) return sweep;
    sweep.pieces.push_back(pieces);
    sweep.steps.push_back(std::move(step));
    control.report(internal::share_done("approximate", std::ssize(sweep.steps), std::ssize(cells), watch));
  }
  sweep.exponents = {exponent_of(sweep, &ApproximationErrors::value),
                     exponent_of(sweep, &ApproximationErrors::gradient),
                     exponent_of(sweep, &ApproximationErrors::divergence)};
  return sweep;
}

}  // namespace bregmax
