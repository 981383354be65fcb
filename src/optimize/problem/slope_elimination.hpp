#pragma once

#include <cassert>
#include <optional>

#include "optimize/problem/factorization.hpp"
#include "optimize/problem/feature_grid.hpp"

namespace bregmax::internal {

// The slopes' part of the normal equations of an anchored problem without couplings: a_k meets only itself, z and L.
// With y = (z, L), the block A_k = F_k F_k' of a_k and its coupling C_k to y,
//
//   E_k = F_k^{-1} C_k,    S = H_yy - sum_k E_k' E_k.
//
// If the set of entries is incomplete, few columns of E_k are not 0, and only those are stored. If it is complete, all
// E_k together are d times as large as the weights. They are then made for a batch of pieces at a time, which stays in
// the cache until its squares are subtracted; only couplings need them later.
class SlopeElimination {
 public:
  SlopeElimination(const CanonicalProblem& problem, const EntrySet& entries);

  Index y_count() const { return y_count_; }

  // Factors every A_k. `grid`: weights of the entries, instead of those in `weights`; must live until the next call.
  bool factor_blocks(const NormalWeights& weights, const Vector& grid);
  // Also computes the E_k and the lower triangle of S; the upper triangle is undefined.
  bool eliminate(const NormalWeights& weights, const Vector& grid, Matrix& schur);

  // slopes = F^{-1} slopes, y -= E' slopes.
  void forward(double* slopes, double* y);
  // slopes = F^{-T} (slopes - E y).
  void backward(double* slopes, const double* y);
  // v = F_k^{-1} v.
  void whiten(Index k, double* v) const;
  // Subtracts rows * E_k, rows being count x features, from row target(r) of a matrix with y_count() columns.
  template <typename Target>
  void subtract_products(Index k, Index count, const double* rows, double* products, const Target& target) const;

 private:
  const double* block(Index k) const { return blocks_.data() + k * p_.features * p_.features; }
  double* block(Index k) { return blocks_.data() + k * p_.features * p_.features; }
  const double* eliminated(Index k) const { return eliminated_.data() + k % batch_ * p_.features * y_count_; }
  double* eliminated(Index k) { return eliminated_.data() + k % batch_ * p_.features * y_count_; }
  const Index* columns(Index k) const { return columns_.data() + (entries_.complete() ? 0 : k * y_count_); }
  Index width(Index k) const { return entries_.complete() ? y_count_ : width_[k]; }

  bool factor_block(const NormalWeights& weights, Index k);
  void unwhiten(Index k, double* v) const;
  void gather_couplings(Index k);
  void add_weights(Index k, Matrix& schur) const;
  void eliminate_piece(const NormalWeights& weights, Index k);
  void subtract_squares(Index from, Index to, Matrix& schur);
  void forward_by_weights(const double* slopes, double* y);
  void backward_by_weights(double* slopes, const double* y);

  const CanonicalProblem& p_;
  const EntrySet& entries_;
  Index y_count_, batch_;  // batch_: number of pieces whose E_k are stored at a time
  const Vector* grid_ = nullptr;
  Matrix blocks_ = Matrix(p_.pieces * p_.features, p_.features);  // A_k, then F_k
  Matrix eliminated_ = Matrix(batch_ * p_.features, y_count_);    // E_k, features x width(k) each
  Matrix border_;               // pieces x features: the last columns of the E_k, where the set is complete
  std::vector<Index> columns_;  // of y, ascending: of each E_k, or of all where the set is complete
  std::vector<Index> width_ = std::vector<Index>(p_.pieces), place_ = std::vector<Index>(y_count_);
  Matrix difference_, weighted_, outer_;
  std::optional<FeatureGrid> whole_;  // where the set is complete
  Matrix solved_;                     // slopes
  Vector of_piece_ = Vector(p_.pieces), sum_of_piece_ = of_piece_, of_location_ = Vector(p_.locations);
  Vector gathered_ = Vector(y_count_);
};

template <typename Target>
void SlopeElimination::subtract_products(Index k, Index count, const double* rows, double* products,
                                         const Target& target) const {
  assert(batch_ >= p_.pieces);
  const Index columns_here = width(k);
  gemm(false, false, count, columns_here, p_.features, 1, rows, p_.features, eliminated(k), columns_here, 0, products,
       columns_here);
  const Index* column = columns(k);
  for (Index r = 0; r < count; ++r) {
    const double* row = products + r * columns_here;
    double* out = target(r);
    for (Index i = 0; i < columns_here; ++i) out[column[i]] -= row[i];
  }
}

}  // namespace bregmax::internal
