#pragma once

#include <cmath>
#include <vector>

#include "bregmax/core/matrix.hpp"
#include "bregmax/optimize/learning_problem.hpp"

namespace bregmax::internal {

// The units of the features in the solvers: centred and divided by the standard deviation, but by no less than a part
// of the largest one. Constant features and those that another one dominates are left out. The norm of a slope is then
// norm_unit * sum_j norm_weight_j |a_j|.
struct FeatureUnits {
  Index all_features = 0;               // of the caller's points
  Index features = 0;                   // that are kept
  std::vector<Index> kept_features;     // their columns
  Vector feature_center, feature_unit;  // of the kept features
  Vector norm_weight;                   // the smallest is 1
  double norm_unit = 1;
};

// Small features are scaled up only so far. Otherwise the norm weights would spread over as many powers of ten as the
// features, and slopes that hardly matter would dominate the rounding errors.
inline constexpr double kLeastFeatureUnit = 1e-2;  // of the largest

FeatureUnits feature_units(const Matrix& points, double least_unit = kLeastFeatureUnit);

// Neither a price nor a bound on L: nothing holds the slopes in directions that the losses do not see.
inline bool has_free_norm(const LearningProblem& problem) {
  return problem.lambda == 0 && !std::isfinite(problem.lipschitz_bound);
}
// The lambda that holds the slopes of such a problem, relative to the zero model's objective: far below any tolerance.
inline constexpr double kFreeSlopePrice = 1e-14;

}  // namespace bregmax::internal
