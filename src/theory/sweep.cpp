#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/theory/approximate.hpp"
#include "theory/placement.hpp"

namespace bregmax {
namespace {

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
  for (std::size_t i = 0; i < sweep.steps.size(); ++i) {
    // The number of pieces that there are: a greedy placement may need fewer than were asked for.
    sizes.push_back(static_cast<double>(sweep.steps[i].anchors.rows()));
    errors.push_back(sweep.steps[i].measured.*error);
    if (!(errors.back() > 0)) return std::numeric_limits<double>::quiet_NaN();  // an exact approximation has no rate
  }
  return fitted_exponent(sizes, errors);
}

}  // namespace

double fitted_exponent(const std::vector<double>& sizes, const std::vector<double>& errors) {
  if (sizes.size() != errors.size() || sizes.size() < 2) {
    throw Error(
        fmt::format("an exponent is fitted to two sizes or more, each with its error; found {} sizes and {} "
                    "errors",
                    sizes.size(), errors.size()));
  }
  const auto count = static_cast<Index>(sizes.size());
  const Eigen::Map<const Vector> all_sizes(sizes.data(), count), all_errors(errors.data(), count);
  if (!(all_sizes.minCoeff() > 0) || !(all_errors.minCoeff() > 0)) {
    throw Error("an exponent is fitted to sizes and errors > 0");
  }
  Vector x = all_sizes.array().log(), y = all_errors.array().log();
  x.array() -= x.mean();
  y.array() -= y.mean();
  if (!(x.squaredNorm() > 0)) throw Error("an exponent is fitted to sizes that differ");
  return x.dot(y) / x.squaredNorm();
}

Sweep sweep_approximation(const Divergence& divergence, const Box& box, const SweepOptions& options,
                          const RunControl& control) {
  const Index dimension = box.dimension();
  const Index last =
      internal::cells_per_axis(std::max<Index>(options.largest_pieces, 1), std::max<Index>(dimension, 1));
  if (last < kFewestLast) {
    throw Error(fmt::format("pieces is {}; a sweep in dimension {} needs at least {} = {}^{}", options.largest_pieces,
                            dimension, std::pow(kFewestLast, dimension), kFewestLast, dimension));
  }
  Sweep sweep;
  const double d = static_cast<double>(dimension);
  sweep.theoretic_exponents = {-2 / d, -1 / d, -1 / d};
  const std::vector<Index> cells = cells_of_sweep(last);
  for (const Index q : cells) {
    ApproximationOptions each;
    each.pieces = internal::lattice_size(q, dimension, options.largest_pieces);
    each.placement = options.placement;
    each.margin = box.radius / 2;
    each.samples = options.samples;
    each.seed = options.seed;
    Approximation step = approximate(divergence, box, each, control);
    if (step.stopped) {
      sweep.stopped = true;
      return sweep;
    }
    sweep.pieces.push_back(each.pieces);
    sweep.steps.push_back(std::move(step));
    Progress progress{"approximate", static_cast<int>(sweep.steps.size())};
    progress.fraction = static_cast<double>(sweep.steps.size()) / static_cast<double>(cells.size());
    control.report(progress);
  }
  sweep.exponents = {exponent_of(sweep, &ApproximationErrors::value),
                     exponent_of(sweep, &ApproximationErrors::gradient),
                     exponent_of(sweep, &ApproximationErrors::divergence)};
  return sweep;
}

}  // namespace bregmax
