#pragma once

#include "bregmax/core/supervision.hpp"
#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// What the paper's bounds depend on.
struct BoundInputs {
  Index pieces = 0;      // K >= 1
  double lipschitz = 0;  // L = max_k ||a_k||_1 >= 0
  double radius = 0;     // R = max_i ||x_i||_inf >= 0
  Index features = 0;    // d >= 1
  Index items = 0;       // m >= 1: comparisons or targets, drawn independently
  double delta = 0.05;   // the bound may fail with this probability; > 0, < 1
};

// Lemma 2: the Rademacher complexity of the divergences of max-affine functions is at most 4 K L R sqrt(2 ln(2d+2)/m).
double rademacher_bound(const BoundInputs& inputs);

// A bound is the sum of its terms.
struct BoundTerms {
  double loss = 0;        // empirical
  double complexity = 0;  // what the Rademacher complexity costs
  double confidence = 0;  // what 1 - delta costs
  double total() const { return loss + complexity + confidence; }
};

// The proof of Theorem 2 does not quite give the constants that are stated, see docs/mathematics.md.
enum class Constants {
  kStated,  // 32 K L R sqrt(2 ln(2d+2)/m) + sqrt((4 ln(4 log2 max(L, 2)) + ln(1/delta))/m)
  kProved,  // 32 K max(L, 1) R sqrt(2 ln(2d+2)/m) + sqrt((4 ln(4 log2 max(L, 2)) + 2 ln(1/delta))/m)
};

// Theorem 2: with probability 1 - delta, the probability that a new comparison is violated, D(i, j) >= D(k, l), is at
// most the total. `loss` is the mean ramp loss of the comparisons that were learned from (the mean hinge loss is never
// smaller, so it is valid, too).
BoundTerms comparison_bound(const BoundInputs& inputs, double loss, Constants constants = Constants::kStated);

// Theorem 3. M = 4 L R + noise bounds |D - y|; `noise` = sup |y - E y| >= 0. L is that of the class that was searched.
double residual_bound(const BoundInputs& inputs, double noise);
// The expected squared error on new targets: loss + 16 M K L R sqrt(2 ln(2d+2)/m) + M^2 sqrt(ln(1/delta)/(2m)), where
// `loss` is the mean squared error of the targets that were learned from.
BoundTerms regression_bound(const BoundInputs& inputs, double loss, double noise);
// The expected squared distance from the true, beta-smooth divergence: 36^2 beta^2 R^4 K^(-2/d) (as `loss`)
// + 16 M K L R sqrt(2 ln(2d+2)/m) + M^2 sqrt(2 ln(2/delta)/m).
BoundTerms regression_approximation_bound(const BoundInputs& inputs, double beta, double noise);
// Theorem 3's number of pieces, ceil(m^(d/(4+2d))), which makes that distance O(m^(-1/(d+2))).
Index regression_pieces(Index items, Index features);

// How a divergence does on comparisons of rows; each is a mean over the comparisons (weights play no part).
struct ComparisonLosses {
  double hinge = 0;  // max(0, 1 + D(i, j) - D(k, l))
  double ramp = 0;   // the same, at most 1
  double error = 0;  // D(i, j) >= D(k, l)
};
ComparisonLosses comparison_losses(const Divergence& divergence, const MatrixView& rows,
                                   const Comparisons& comparisons);

// Mean of (D(i, j) - value)^2.
double squared_loss(const Divergence& divergence, const MatrixView& rows, const Targets& targets);

}  // namespace bregmax
