#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// The pairs of ITML as its iterations need them.
struct ItmlConstraints {
  Matrix differences;   // x_i - x_j, one per row, none of them 0
  Vector signs;         // +1 similar, -1 dissimilar
  Vector bounds;        // > 0
  Vector slack_prices;  // gamma times the weight, > 0

  Index size() const { return differences.rows(); }
};

// Of L L^T, from its Cholesky factor L.
double log_det(const Matrix& lower);

// s - log s - 1, the divergence of a slack from its bound, at s = slack / bound.
double slack_divergence(double ratio);

// A barrier method on the objective of ITML. A slack keeps away from its pair's divergence by -weight log(distance), A
// from singular ones by -weight log det A; for given A the best slack is a root of a quadratic equation, so that A
// alone is left, in a function that suits Newton's method (it is self-concordant) whatever gamma and the units of the
// features are. Around A = L L^T, in A = L (I + X) L^T, the curvature of -log det is the identity, and each pair adds a
// matrix of rank one. The weight falls in stages. The cyclic projections approach the optimum steadily but slowly where
// gamma is large; this takes over from where they are.
class ItmlNewton {
 public:
  // Whether a step is affordable: its matrices have the smaller of the numbers of pairs and of entries of A.
  static bool suits(const ItmlConstraints& constraints);

  // Both must outlive this. The metric is positive definite, and its objective is at most `gap` above the optimum.
  ItmlNewton(const ItmlConstraints& constraints, const Matrix& prior_inverse, const Matrix& metric, double gap);

  bool step();  // false: rounding ends the progress

  const Matrix& metric() const { return metric_; }
  double objective() const { return objective_; }
  // What a step decreases, the objective with its barriers, and the derivative of that by X at X = 0.
  double stage_objective() const { return stage_objective_; }
  Matrix stage_slope() const;
  double bound() const;  // proved by the multipliers that belong to the slacks; -infinity far from the stage's optimum

 private:
  bool measure(const Matrix& metric);
  Matrix newton_direction() const;

  const ItmlConstraints& constraints_;
  const Matrix& prior_inverse_;
  double prior_log_det_ = 0;  // of A_0^-1
  Matrix metric_, lower_, slope_;
  Matrix seen_;        // L^T v, one a row
  Vector curvatures_;  // second derivatives of the costs of the slacks by the divergences
  double objective_ = 0, stage_objective_ = 0;
  double dual_costs_ = 0;  // what the slacks add to the dual objective
  double weight_ = 0;      // of the barrier
};

}  // namespace bregmax::internal
