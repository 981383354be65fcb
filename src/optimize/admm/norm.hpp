#pragma once

#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// Block two for the slopes: the P and L that minimise lambda L + sum_k v_k / 2 ||P_k - X_k||^2 with
// sum_j w_j |P_kj| <= L for every piece and L <= bound. A piece's shrinkage t_k(L) (P_kj = X_kj less t_k w_j towards
// zero) is a convex, falling, piecewise linear function of L, and L is the root of sum_k v_k t_k(L) = lambda: Newton's
// method from the left meets it after finitely many steps.
class LipschitzProx {
 public:
  LipschitzProx(Index pieces, const Vector& norm_weight)
      : norm_weight_(norm_weight), ratio_(pieces, norm_weight.size()), order_(norm_weight.size()) {}

  // Returns L; shrunk may not be x. weight: the v_k.
  double apply(const Matrix& x, double lambda, double bound, const Vector& weight, Matrix& shrunk);

 private:
  struct Shrinkage {
    double amount, slope;  // t_k and dt_k / dL (<= 0)
  };
  void sort_knots(const Matrix& x);
  Shrinkage shrinkage(Index piece, double lipschitz) const;
  double root(double lambda, const Vector& weight) const;

  Vector norm_weight_;
  Matrix ratio_;                                // of each piece: |x_j| / w_j, falling
  Matrix covered_ = ratio_, weights_ = ratio_;  // sums of w |x| and of w^2 up to there
  std::vector<Index> order_;
};

}  // namespace bregmax::internal
