#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// minimise 1/2 x^T Q x + sum_t prices_t max(0, 1 - <margins.row(t), x>) over x >= 0. Q is positive semidefinite with
// entries >= 0; its last row and column, those of the threshold, are 0.
struct HingeProgram {
  Matrix quadratic;
  Matrix margins;
  Vector prices;  // > 0

  Index variables() const { return quadratic.rows(); }
  double zero_objective() const { return prices.sum(); }
  double objective(const Vector& x) const;
  // Of the hinges at x: all of the price where one is positive. They are those of a subgradient.
  Vector multipliers(const Vector& x) const;
  // Of the quadratic and of the hinges with these multipliers.
  Vector slope(const Vector& x, const Vector& multipliers) const;
  // A lower bound on the optimum from any multipliers 0 <= multipliers <= prices of the hinges and any x >= 0: they are
  // scaled until they are feasible.
  double lower_bound(const Vector& x, const Vector& multipliers) const;
};

// A primal-dual interior point method, one iteration at a time.
class HingeInteriorPoint {
 public:
  explicit HingeInteriorPoint(const HingeProgram& program);

  bool iterate();  // false: rounding ended the progress

  const Vector& x() const { return x_; }
  const Vector& multipliers() const { return multipliers_; }

 private:
  struct Direction {
    Vector x, multipliers, slacks, surplus, bounds;
  };

  bool factorize();
  Direction solve(double mu) const;
  double longest_step(const Direction& direction) const;
  double complementarity(const Direction& direction, double step) const;

  const HingeProgram& program_;
  Vector x_, bounds_;              // x > 0 and its multipliers
  Vector slacks_, surplus_;        // s and u = <margin, x> + s - 1, both > 0
  Vector multipliers_, leftover_;  // of u and of s; they sum to the prices
  Matrix factor_;                  // Cholesky factor of the normal equations
};

}  // namespace bregmax::internal
