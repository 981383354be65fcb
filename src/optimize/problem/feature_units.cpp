#include "optimize/problem/feature_units.hpp"

#include <algorithm>
#include <cmath>

namespace bregmax::internal {
namespace {

// Goes row by row: one feature at a time would read the memory of all features once for each.
template <class Each>
Vector fold_rows(const Matrix& points, Vector start, const Each& each) {
  for (Index i = 0; i < points.rows(); ++i) each(start.array(), points.row(i).transpose().array());
  return start;
}

// Whether column j is, to rounding, factor * column g + constant with |factor| <= 1. `least`, `most`: of each column.
bool is_dominated(const Matrix& points, const Vector& least, const Vector& most, Index j, Index g) {
  constexpr double kColumnRounding = 1e-13;
  Index low = 0, high = 0;
  while (points(low, g) != least(g)) ++low;
  while (points(high, g) != most(g)) ++high;
  const double spread = most(g) - least(g), factor = (points(high, j) - points(low, j)) / spread;
  if (!(std::abs(factor) <= 1)) return false;
  const double rounding = kColumnRounding * std::abs(factor) * spread;
  for (Index i = 0; i < points.rows(); ++i) {  // most columns show within a few rows that they are not
    const double expected = points(low, j) + factor * (points(i, g) - least(g));
    if (!(std::abs(points(i, j) - expected) <= rounding)) return false;
  }
  return true;
}

// Leaves out constant features, which change nothing, and features that another one dominates: their slopes can move
// there without making a norm larger. If they stayed, only lambda would determine this direction of every piece.
std::vector<Index> choose_features(const Matrix& points, const Vector& least, const Vector& most) {
  std::vector<Index> by_spread, kept;
  const auto spread = [&](Index j) { return most(j) - least(j); };
  for (Index j = 0; j < points.cols(); ++j) {
    if (spread(j) > 0) by_spread.push_back(j);
  }
  std::stable_sort(by_spread.begin(), by_spread.end(), [&](Index a, Index b) { return spread(a) > spread(b); });
  for (const Index j : by_spread) {
    const bool dominated =
        std::any_of(kept.begin(), kept.end(), [&](Index g) { return is_dominated(points, least, most, j, g); });
    if (!dominated) kept.push_back(j);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

FeatureUnits feature_units(const Matrix& points, double least_unit) {
  FeatureUnits units;
  units.all_features = points.cols();
  const auto rows = static_cast<double>(points.rows());
  const Vector first = points.row(0).transpose(), zero = Vector::Zero(points.cols());
  const Vector least = fold_rows(points, first, [](auto&& sum, const auto& x) { sum = sum.min(x); });
  const Vector most = fold_rows(points, first, [](auto&& sum, const auto& x) { sum = sum.max(x); });
  // Halved before they are added, so that values near the largest double do not overflow.
  const Vector center = 0.5 * least + 0.5 * most;
  const Vector spread = (least - center).cwiseAbs().cwiseMax((most - center).cwiseAbs());
  const Vector divisor = (spread.array() > 0).select(spread, 1.0);
  const auto relative = [&](const auto& x) { return (x - center.array()) / divisor.array(); };
  const Vector mean = fold_rows(points, zero, [&](auto&& sum, const auto& x) { sum += relative(x); }) / rows;
  const Vector variance =
      fold_rows(points, zero, [&](auto&& sum, const auto& x) { sum += (relative(x) - mean.array()).square(); }) / rows;
  units.kept_features = choose_features(points, least, most);
  units.features = std::ssize(units.kept_features);
  units.feature_center = (center + spread.cwiseProduct(mean))(units.kept_features);
  units.feature_unit = spread.cwiseProduct(variance.cwiseSqrt())(units.kept_features);
  if (units.features > 0) {
    units.feature_unit = units.feature_unit.cwiseMax(least_unit * units.feature_unit.maxCoeff()).eval();
  }
  units.norm_weight = units.feature_unit.cwiseInverse();
  units.norm_unit = units.features > 0 ? units.norm_weight.minCoeff() : 1;
  units.norm_weight /= units.norm_unit;
  return units;
}

}  // namespace bregmax::internal
