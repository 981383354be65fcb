#include "methods/whitened_targets.hpp"

#include <algorithm>

#include "core/symmetric.hpp"

namespace bregmax::internal {

WhitenedTargets::WhitenedTargets(const MatrixView& rows, const Targets& targets) {
  const auto counted = std::count_if(targets.begin(), targets.end(), [](const Target& t) { return t.weight > 0; });
  Matrix plain(counted, rows.cols());
  values.resize(counted);
  weights.resize(counted);
  Index at = 0;
  for (const Target& target : targets) {
    if (target.weight == 0) continue;
    plain.row(at) = rows.row(target.i) - rows.row(target.j);
    values(at) = target.value;
    weights(at++) = target.weight;
  }
  const Matrix scatter = plain.transpose() * weights.asDiagonal() * plain;
  const internal::SymmetricEigen eigen(scatter);
  const double smallest = 1e-12 * std::max(eigen.values.maxCoeff(), 0.0);
  const Index rank = (eigen.values.array() > smallest).count();
  const Vector scales = eigen.values.tail(rank).cwiseSqrt().cwiseInverse();
  whitening = eigen.vectors.rightCols(rank) * scales.asDiagonal();
  differences = plain * whitening;
}

TargetsFit WhitenedTargets::measure(const Matrix& metric) const {
  TargetsFit fit;
  fit.residuals = (differences * metric).cwiseProduct(differences).rowwise().sum() - values;
  fit.objective = weights.dot(fit.residuals.cwiseAbs2());
  const Vector pull = 2 * weights.cwiseProduct(fit.residuals);
  fit.slope = differences.transpose() * pull.asDiagonal() * differences;
  return fit;
}

// For multipliers u with sum_t u_t v_t v_t^T positive semidefinite, w r^2 >= u r - u^2 / (4 w) gives the bound
// -sum u^2 / (4 w) - sum u y on the objective of every M. The multipliers 2 w r are shifted to be feasible, then
// scaled.
double WhitenedTargets::lower_bound(const TargetsFit& fit) const {
  const double shift = std::max(0.0, -symmetric_eigenvalues(fit.slope).minCoeff());
  const Vector multipliers = 2 * weights.cwiseProduct(fit.residuals) + shift * weights;
  const double square = 0.25 * multipliers.cwiseAbs2().cwiseQuotient(weights).sum();
  const double linear = -multipliers.dot(values);
  if (!(square > 0) || linear <= 0) return 0;
  return linear * linear / (4 * square);
}

}  // namespace bregmax::internal
