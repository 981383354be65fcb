#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// The pairs of ITML as its iterations need them.
struct ItmlConstraints {
  Matrix differences;   // x_i - x_j, one a row, none of them 0
  Vector signs;         // +1 similar, -1 dissimilar
  Vector bounds;        // > 0
  Vector slack_prices;  // gamma times the weight, > 0

  Index size() const { return differences.rows(); }
};

// s - log s - 1, the divergence of a slack from its bound, at s = slack / bound.
double slack_divergence(double ratio);

// Newton's method on the objective of ITML as a function of A alone, each slack at its best value for A. Around
// A = L L^T, in A = L (I + X) L^T, the curvature of -log det is the identity, and each pair that its bound moves adds a
// matrix of rank one. The cyclic projections approach the optimum steadily but slowly where gamma is large; this takes
// over from where they are. The prices of the slacks grow to their full size by a factor of 4 at a time: the pairs that
// their bounds move then change little from one stage to the next.
class ItmlNewton {
 public:
  // Whether a step is affordable: its matrices have the smaller of the numbers of pairs and of entries of A.
  static bool suits(const ItmlConstraints& constraints);

  // Both must outlive this. The metric is positive definite.
  ItmlNewton(const ItmlConstraints& constraints, const Matrix& prior_inverse, const Matrix& metric);

  bool step();  // false: rounding ends the progress

  const Matrix& metric() const { return metric_; }
  double objective() const { return objective_; }
  double bound() const;  // proved by the multipliers that belong to the slacks; -infinity far from the optimum

 private:
  bool measure(const Matrix& metric);
  Matrix newton_direction() const;

  const ItmlConstraints& constraints_;
  const Matrix& prior_inverse_;
  double prior_log_det_ = 0;  // of A_0^-1
  Matrix metric_, lower_, slope_;
  Matrix seen_;  // L^T v, one a row
  Vector divergences_;
  double objective_ = 0, stage_objective_ = 0;
  double price_scale_ = 1;  // of the stage
};

}  // namespace bregmax::internal
