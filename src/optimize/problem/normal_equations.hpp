#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problem/divergence_grid.hpp"
#include "optimize/problem/entry_set.hpp"

namespace bregmax::internal {

// The weights of one interior point iteration, with the |a| variables and the hinge slacks already eliminated.
// Unknowns are x = (z, a, L), a row-major.
struct NormalWeights {
  Vector grid;            // of each entry of the set, zero beyond: convexity + single hinges + quadratic
  Vector coupled;         // of each coupled hinge
  Matrix slope_diagonal;  // pieces x features: 4 w+ w- / (w+ + w-)
  Matrix slope_rank_one;  // pieces x features: f
  Vector norm;            // pieces: w / (1 + w sum), multiplies (f, 1)(f, 1)' on (a_k, L)
  double lipschitz = 0;   // what the bound on L adds to the diagonal of L
  double proximal = 0;    // added to the diagonal of z and a
};

// One way of factoring the normal equations, exactly or approximately.
class Factorization {
 public:
  virtual ~Factorization() = default;
  // False: not positive definite in floating point.
  virtual bool factor(const NormalWeights& weights) = 0;
  // x = (approximate inverse) rhs.
  virtual void solve(const double* rhs, double* x) = 0;
};

std::unique_ptr<Factorization> make_dense_factorization(const CanonicalProblem& problem, const EntrySet& entries);
std::unique_ptr<Factorization> make_arrow_factorization(const CanonicalProblem& problem, const EntrySet& entries);

// Factors with the method that is cheaper by its operation count, and refines by conjugate gradients against the
// operator itself, which is never formed.
class NormalEquations {
 public:
  NormalEquations(const CanonicalProblem& problem, const EntrySet& entries, DivergenceGrid& grid);

  Index size() const { return size_; }
  NormalWeights& weights() { return weights_; }

  bool factor();
  // Returns the largest absolute residual: measured, or an estimate from an earlier measurement where that is far
  // enough below the tolerance (kTrust).
  double solve(const Vector& rhs, Vector& x, double tolerance);
  // From the next factor() on, everything goes into one dense factorization; false: it would not fit into memory.
  bool use_dense();
  // Whether couplings are taken as a low-rank update, which needs a larger proximal term of the hinges.
  bool uses_update() const { return !dense_ && !problem_.coupled.empty(); }

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

// Below this many unknowns a dense factorization takes no more than a few milliseconds.
inline constexpr Index kAlwaysDenseUnknowns = 600;

// Shared by the factorizations: the weight of (sum of z)^2. A weight on one z would make that one heavy to move.
double grounding_weight(const CanonicalProblem& problem, const NormalWeights& weights);

}  // namespace bregmax::internal
