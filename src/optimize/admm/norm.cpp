#include "optimize/admm/norm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bregmax::internal {

void LipschitzProx::sort_knots(const Matrix& x) {
  const Index features = norm_weight_.size();
  for (Index k = 0; k < x.rows(); ++k) {
    const auto ratio = [&](Index j) { return std::abs(x(k, j)) / norm_weight_(j); };
    std::iota(order_.begin(), order_.end(), Index{0});
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) { return ratio(a) > ratio(b); });
    double covered = 0, weights = 0;
    for (Index r = 0; r < features; ++r) {
      const Index j = order_[r];
      covered += norm_weight_(j) * std::abs(x(k, j));
      weights += norm_weight_(j) * norm_weight_(j);
      ratio_(k, r) = ratio(j);
      covered_(k, r) = covered;
      weights_(k, r) = weights;
    }
  }
}

// The norm after a shrinkage t is covered_r - t weights_r while ratio_r > t >= ratio_{r+1}.
LipschitzProx::Shrinkage LipschitzProx::shrinkage(Index piece, double lipschitz) const {
  const Index features = norm_weight_.size();
  if (features == 0 || covered_(piece, features - 1) <= lipschitz) return {0, 0};
  Index r = 0;
  while (r + 1 < features && covered_(piece, r) - ratio_(piece, r + 1) * weights_(piece, r) < lipschitz) ++r;
  return {(covered_(piece, r) - lipschitz) / weights_(piece, r), -1 / weights_(piece, r)};
}

double LipschitzProx::root(double lambda, const Vector& weight) const {
  constexpr int kMostSteps = 100;
  double lipschitz = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    double sum = -lambda, slope = 0;
    for (Index k = 0; k < ratio_.rows(); ++k) {
      const Shrinkage of_piece = shrinkage(k, lipschitz);
      sum += weight(k) * of_piece.amount;
      slope += weight(k) * of_piece.slope;
    }
    if (!(sum > 0) || slope == 0) break;
    const double next = lipschitz - sum / slope;
    if (!(next > lipschitz)) break;
    lipschitz = next;
  }
  return lipschitz;
}

double LipschitzProx::apply(const Matrix& x, double lambda, double bound, const Vector& weight, Matrix& shrunk) {
  sort_knots(x);
  const Index features = norm_weight_.size();
  double largest = 0;
  for (Index k = 0; k < x.rows() && features > 0; ++k) largest = std::max(largest, covered_(k, features - 1));
  const double lipschitz = std::min({bound, largest, lambda > 0 ? root(lambda, weight) : largest});
  for (Index k = 0; k < x.rows(); ++k) {
    const double amount = shrinkage(k, lipschitz).amount;
    for (Index j = 0; j < features; ++j) {
      const double kept = std::max(0.0, std::abs(x(k, j)) - amount * norm_weight_(j));
      shrunk(k, j) = std::copysign(kept, x(k, j));
    }
  }
  return lipschitz;
}

}  // namespace bregmax::internal
