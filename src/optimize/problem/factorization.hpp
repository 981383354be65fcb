#pragma once

#include <memory>

#include "core/blas.hpp"
#include "optimize/problem/canonical_problem.hpp"
#include "optimize/problem/entry_set.hpp"

namespace bregmax::internal {

// The weights of one interior point iteration, with the |a| variables and the hinge slacks already eliminated.
// Unknowns are x = (z, a, L), a row-major.
struct NormalWeights {
  explicit NormalWeights(const CanonicalProblem& problem);  // all zero

  Vector grid;            // of each entry of the set, then zeros: convexity + single hinges + quadratic
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

// Below this many unknowns a dense factorization takes no more than a few milliseconds.
inline constexpr Index kAlwaysDenseUnknowns = 600;

// The weight of (sum of z)^2, which is needed because adding a constant to all z changes nothing. A weight on a single
// z would hold that one back.
double grounding_weight(const CanonicalProblem& problem, const NormalWeights& weights);

// x = F^{-1} x, or F^{-T} x if transposed: F is the lower triangle of the first `size` rows of a factor.
inline void solve_lower(const Matrix& factor, Index size, bool transposed, double* x) {
  cblas_dtrsv(CblasRowMajor, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, static_cast<int>(size),
              factor.data(), static_cast<int>(factor.cols()), x, 1);
}

}  // namespace bregmax::internal
