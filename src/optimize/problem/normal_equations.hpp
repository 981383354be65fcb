#pragma once

#include <limits>
#include <memory>

#include "optimize/problem/divergence_grid.hpp"
#include "optimize/problem/factorization.hpp"

namespace bregmax::internal {

// Solves the normal equations: a factorization, dense unless the arrow is much cheaper, preconditions conjugate
// gradients on the operator itself, which is never formed.
class NormalEquations {
 public:
  NormalEquations(const CanonicalProblem& problem, const EntrySet& entries, DivergenceGrid& grid);

  NormalWeights& weights() { return weights_; }

  bool factor();
  // Returns the largest absolute residual. It is measured, or estimated from an earlier measurement if the estimate is
  // far enough below the tolerance (kTrust).
  double solve(const Vector& rhs, Vector& x, double tolerance);
  // From the next factor() on, everything goes into one dense factorization; false: it would not fit into memory.
  bool use_dense();
  // Whether coupled hinges are a low-rank downdate (see factorization.cpp). It needs a larger proximal term of the
  // hinges.
  bool uses_downdate() const { return !dense_ && !problem_.coupled.empty(); }

 private:
  void apply(const Vector& x, Vector& out);

  const CanonicalProblem& problem_;
  const EntrySet& entries_;
  DivergenceGrid& grid_;
  Index size_;
  NormalWeights weights_;
  std::unique_ptr<Factorization> factorization_;
  bool dense_ = false;
  int most_steps_ = 0;  // of refinement
  Vector grid_buffer_, coupled_buffer_, residual_, direction_, preconditioned_, image_;
  double ground_ = 0;  // weight of (sum of z)^2: z is free up to a constant
  // Error of the factorization alone relative to its solution, as last measured since factor().
  double error_per_size_ = std::numeric_limits<double>::infinity();
};

}  // namespace bregmax::internal
