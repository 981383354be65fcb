#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "bregmax/core/matrix.hpp"
#include "core/products.hpp"

namespace bregmax::internal {

// minimise 1/2 x^T Q x + sum_t prices_t max(0, 1 - <margins.row(t), x>) over x >= 0. Q is positive semidefinite with
// entries >= 0; its last row and column, those of the threshold, are 0.
struct HingeProgram {
  Matrix quadratic;
  Matrix margins;
  Vector prices;  // > 0

  Index variables() const { return quadratic.rows(); }
  double zero_objective() const { return prices.sum(); }
  double objective(const Vector& x) const {
    const Vector hinges = (1 - apply(margins, x).array()).max(0).matrix();
    return 0.5 * x.dot(apply(quadratic, x)) + prices.dot(hinges);
  }
  // Of the hinges at x: the price if the hinge is positive, else 0. They give a subgradient.
  Vector multipliers(const Vector& x) const { return (apply(margins, x).array() < 1).select(prices, 0.0); }
  // The gradient of the quadratic plus that of the hinges with these multipliers.
  Vector slope(const Vector& x, const Vector& multipliers) const {
    return apply(quadratic, x) - apply_transposed(margins, multipliers);
  }

  // A lower bound on the optimum from any multipliers 0 <= multipliers <= prices of the hinges and any x >= 0: they are
  // scaled until Q x - margins^T multipliers >= 0. Then the bound is sum multipliers - 1/2 x^T Q x.
  double lower_bound(const Vector& x, const Vector& multipliers) const {
    const Index threshold = variables() - 1;
    Vector feasible = multipliers;
    // The threshold has no quadratic part, so multipliers with a positive margin there are scaled down.
    const auto at_threshold = margins.col(threshold);
    const double up = feasible.cwiseProduct(at_threshold.cwiseMax(0)).sum();
    const double down = -feasible.cwiseProduct(at_threshold.cwiseMin(0)).sum();
    if (up > down) feasible = (at_threshold.array() > 0).select(feasible * (down / up), feasible);
    const Vector pull = apply_transposed(margins, feasible), hold = apply(quadratic, x);
    double scale = 1;
    for (Index k = 0; k < threshold; ++k) {
      if (pull(k) > hold(k)) scale = std::min(scale, hold(k) / pull(k));
    }
    const double linear = scale * feasible.sum(), square = 0.5 * x.dot(hold);
    // x may be scaled, too: by r, the multipliers by r * scale, as long as none exceeds its price.
    if (!(square > 0)) return std::max(0.0, linear);
    const double largest = prices.cwiseQuotient(scale * feasible).minCoeff();  // infinity where a multiplier is 0
    const double ratio = std::clamp(linear / (2 * square), 0.0, largest);
    return std::max(0.0, ratio * linear - ratio * ratio * square);
  }
};

// A primal-dual interior point method, one iteration at a time.
class HingeInteriorPoint {
 public:
  explicit HingeInteriorPoint(const HingeProgram& program)
      : program_(program),
        x_(Vector::Constant(program.variables(), 1.0)),
        bounds_(program.variables()),
        multipliers_(0.5 * program.prices),
        leftover_(0.5 * program.prices) {
    // The size of x at which the quadratic and the hinges are of one order.
    const double square = x_.dot(apply(program.quadratic, x_)),
                 margin = apply(program.margins, x_).cwiseAbs().maxCoeff();
    double size = margin > 0 ? 1 / margin : 1;
    if (square > 0) size = std::min(size, std::sqrt(program.zero_objective() / square));
    x_ *= size;
    const Vector surplus = apply(program.margins, x_).array() - 1;
    slacks_ = (-surplus).cwiseMax(0).array() + 1;
    surplus_ = surplus + slacks_;
    const double mu = multipliers_.dot(surplus_) / static_cast<double>(surplus_.size());
    bounds_ = mu * x_.cwiseInverse();
  }

  // False: rounding ended the progress.
  bool iterate() {
    if (!factorize()) return false;
    const Direction affine = solve(0);
    const double now = complementarity(affine, 0);
    const double then = complementarity(affine, longest_step(affine));
    const double centering = std::pow(std::clamp(then / now, 0.0, 1.0), 3);
    const Direction direction = solve(std::max(centering, 1e-3) * now);
    const double step = std::min(1.0, 0.99 * longest_step(direction));
    if (!(step > 1e-12) || !direction.x.allFinite()) return false;
    x_ += step * direction.x;
    bounds_ += step * direction.bounds;
    slacks_ += step * direction.slacks;
    surplus_ += step * direction.surplus;
    multipliers_ += step * direction.multipliers;
    leftover_ -= step * direction.multipliers;
    return true;
  }

  const Vector& x() const { return x_; }
  const Vector& multipliers() const { return multipliers_; }

 private:
  struct Direction {
    Vector x, multipliers, slacks, surplus, bounds;
  };

  // The weights of the hinges in the normal equations.
  Vector weights() const {
    return (slacks_.cwiseQuotient(leftover_) + surplus_.cwiseQuotient(multipliers_)).cwiseInverse();
  }

  bool factorize() {
    Matrix matrix = program_.quadratic;
    matrix.diagonal() += bounds_.cwiseQuotient(x_);
    const Matrix weighted = weights().cwiseSqrt().asDiagonal() * program_.margins;
    matrix += transposed_product(weighted, weighted);
    factor_.emplace(matrix);
    return factor_->succeeded() && factor_->lower().allFinite();
  }

  // Newton's equations for complementarity mu, the multipliers and slacks of the hinges eliminated.
  Direction solve(double mu) const {
    const HingeProgram& p = program_;
    const Vector weights = this->weights();
    const Vector offset = slacks_ - surplus_ + mu * (multipliers_.cwiseInverse() - leftover_.cwiseInverse());
    const Vector residual = p.slope(x_, multipliers_) - bounds_;
    const Vector pull = apply_transposed(p.margins, weights.cwiseProduct(offset));
    Direction direction;
    direction.x = factor_->solve(pull - residual + mu * x_.cwiseInverse() - bounds_);
    direction.multipliers = weights.cwiseProduct(offset - apply(p.margins, direction.x));
    direction.slacks = (mu * leftover_.cwiseInverse() - slacks_) +
                       slacks_.cwiseQuotient(leftover_).cwiseProduct(direction.multipliers);
    direction.surplus = (mu * multipliers_.cwiseInverse() - surplus_) -
                        surplus_.cwiseQuotient(multipliers_).cwiseProduct(direction.multipliers);
    direction.bounds = mu * x_.cwiseInverse() - bounds_ - bounds_.cwiseQuotient(x_).cwiseProduct(direction.x);
    return direction;
  }

  double longest_step(const Direction& direction) const {
    double step = 1;
    const auto limit = [&step](const Vector& at, const Vector& move) {
      for (Index i = 0; i < at.size(); ++i) {
        if (move(i) < 0) step = std::min(step, -at(i) / move(i));
      }
    };
    limit(x_, direction.x);
    limit(bounds_, direction.bounds);
    limit(slacks_, direction.slacks);
    limit(surplus_, direction.surplus);
    limit(multipliers_, direction.multipliers);
    limit(leftover_, -direction.multipliers);
    return step;
  }

  double complementarity(const Direction& direction, double step) const {
    const auto product = [step](const Vector& a, const Vector& da, const Vector& b, const Vector& db) {
      return (a + step * da).dot(b + step * db);
    };
    const double sum = product(x_, direction.x, bounds_, direction.bounds) +
                       product(surplus_, direction.surplus, multipliers_, direction.multipliers) +
                       product(slacks_, direction.slacks, leftover_, -direction.multipliers);
    return sum / static_cast<double>(x_.size() + 2 * slacks_.size());
  }

  const HingeProgram& program_;
  Vector x_, bounds_;                       // x > 0 and its multipliers
  Vector slacks_, surplus_;                 // s and u = <margin, x> + s - 1, both > 0
  Vector multipliers_, leftover_;           // of u and of s; they sum to the prices
  std::optional<PositiveDefinite> factor_;  // of the normal equations
};

}  // namespace bregmax::internal
