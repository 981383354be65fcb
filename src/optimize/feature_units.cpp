#include "optimize/feature_units.hpp"

#include <algorithm>
#include <cmath>

#include "optimize/at.hpp"

namespace bregmax::internal {
namespace {

// Features are brought to one scale only so far: the norm weights would else spread over as many powers of ten as the
// features do, and slopes that can be worth nothing would rule the arithmetic.
constexpr double kLeastFeatureUnit = 1e-2;  // of the largest

// Whether column j is, to rounding, factor * column g + constant with |factor| <= 1.
bool is_dominated(const Matrix& points, Index j, Index g) {
  constexpr double kColumnRounding = 1e-13;
  Index low = 0, high = 0;
  const double least = points.col(g).minCoeff(&low), spread = points.col(g).maxCoeff(&high) - least;
  const double factor = (points(high, j) - points(low, j)) / spread;
  if (!(std::abs(factor) <= 1)) return false;
  const auto expected = points(low, j) + factor * (points.col(g).array() - least);
  return (points.col(j).array() - expected).abs().maxCoeff() <= kColumnRounding * std::abs(factor) * spread;
}

// Constant features make no difference. Nor does one that another dominates: moving its slope there makes no norm
// larger; and left in, it is a direction of every piece that nothing but lambda holds.
std::vector<Index> choose_features(const Matrix& points) {
  std::vector<Index> by_spread, kept;
  const auto spread = [&](Index j) { return points.col(j).maxCoeff() - points.col(j).minCoeff(); };
  for (Index j = 0; j < points.cols(); ++j) {
    if (spread(j) > 0) by_spread.push_back(j);
  }
  std::stable_sort(by_spread.begin(), by_spread.end(), [&](Index a, Index b) { return spread(a) > spread(b); });
  for (const Index j : by_spread) {
    const bool dominated = std::any_of(kept.begin(), kept.end(), [&](Index g) { return is_dominated(points, j, g); });
    if (!dominated) kept.push_back(j);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

FeatureUnits feature_units(const Matrix& points) {
  FeatureUnits units;
  units.kept_features = choose_features(points);
  units.features = static_cast<Index>(units.kept_features.size());
  units.feature_center.resize(units.features);
  units.feature_unit.resize(units.features);
  for (Index j = 0; j < units.features; ++j) {
    const auto column = points.col(units.kept_features[at(j)]).array();
    // Halved before they are added, so that values near the largest double do not overflow.
    const double center = 0.5 * column.minCoeff() + 0.5 * column.maxCoeff();
    const double spread = (column - center).abs().maxCoeff();
    const double mean = center + spread * ((column - center) / spread).mean();
    units.feature_center(j) = mean;
    units.feature_unit(j) = spread * std::sqrt(((column - mean) / spread).square().mean());
  }
  if (units.features > 0) {
    units.feature_unit = units.feature_unit.cwiseMax(kLeastFeatureUnit * units.feature_unit.maxCoeff()).eval();
  }
  units.norm_weight = units.feature_unit.cwiseInverse();
  units.norm_unit = units.features > 0 ? units.norm_weight.minCoeff() : 1;
  units.norm_weight /= units.norm_unit;
  return units;
}

}  // namespace bregmax::internal
