#include "optimize/problem/slope_elimination.hpp"

#include <algorithm>
#include <numeric>

#include "optimize/problem/feature_products.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kBatchNumbers = 131'072;  // half of a second-level cache of 2 MB
constexpr Index kTile = 32;

Index pieces_of_batch(const CanonicalProblem& problem, const EntrySet& entries) {
  const bool all = !entries.complete() || !problem.coupled.empty();
  const Index numbers = std::max<Index>(1, problem.features * (problem.z_count + 1));
  const Index most = std::max<Index>(1, problem.pieces);
  return all ? most : std::clamp<Index>(kBatchNumbers / numbers, 1, most);
}

// Adds what is above the diagonal to what is below it; in tiles, since one of the two is read by columns.
void fold_upper(Matrix& square) {
  const Index n = square.rows();
  for (Index top = 0; top < n; top += kTile) {
    for (Index left = 0; left <= top; left += kTile) {
      for (Index i = top; i < std::min(n, top + kTile); ++i) {
        for (Index j = left; j < std::min(i, left + kTile); ++j) square(i, j) += square(j, i);
      }
    }
  }
}

}  // namespace

SlopeElimination::SlopeElimination(const CanonicalProblem& problem, const EntrySet& entries)
    : p_(problem), entries_(entries), y_count_(problem.z_count + 1), batch_(pieces_of_batch(problem, entries)) {
  if (entries.complete()) {
    whole_.emplace(problem.location, problem.pieces);
    difference_.resize(problem.features, problem.locations);
    solved_.resize(problem.pieces, problem.features);
    border_.resize(problem.pieces, problem.features);
    columns_.resize(y_count_);
    std::iota(columns_.begin(), columns_.end(), Index{0});
  } else {
    difference_.resize(problem.locations, problem.features);
    weighted_.resize(problem.locations, problem.features);
    columns_.resize(problem.pieces * y_count_);
    outer_.resize(y_count_, y_count_);
  }
}

bool SlopeElimination::factor_blocks(const NormalWeights& weights, const Vector& grid) {
  grid_ = &grid;
  for (Index k = 0; k < p_.pieces; ++k) {
    if (!factor_block(weights, k)) return false;
  }
  return true;
}

bool SlopeElimination::factor_block(const NormalWeights& weights, Index k) {
  const Index d = p_.features;
  if (d == 0) return true;
  Eigen::Map<Matrix> a(block(k), d, d);
  if (entries_.complete()) {
    // anchor - location, one row per feature, and the same times its weight: C_k without the columns of z_k and L.
    weigh_differences(whole_->feature_rows(), p_.anchor.data() + k * d, grid_->data() + k * p_.locations,
                      {difference_.data(), p_.locations}, {eliminated(k), y_count_});
    multiply_rows({eliminated(k), d, y_count_, p_.locations}, {difference_.data(), d, p_.locations, p_.locations},
                  a.data());
  } else {
    // location - anchor of every entry of the piece, and the same times its weight.
    const Index begin = entries_.begin(k), count = entries_.begin(k + 1) - begin;
    for (Index i = 0; i < count; ++i) {
      difference_.row(i) = p_.location.row(entries_.location(begin + i)) - p_.anchor.row(k);
      weighted_.row(i) = (*grid_)(begin + i) * difference_.row(i);
    }
    gemm(true, false, d, d, count, 1, difference_.data(), d, weighted_.data(), d, 0, a.data(), d);
  }
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j <= i; ++j) {
      a(i, j) += weights.norm(k) * weights.slope_rank_one(k, i) * weights.slope_rank_one(k, j);
    }
    a(i, i) = (a(i, i) + weights.slope_diagonal(k, i) + weights.proximal) * (1 + 1e-14);
  }
  const int n = static_cast<int>(d);
  int info = 0;
  dpotrf_("U", &n, a.data(), &n, &info);
  return info == 0;
}

bool SlopeElimination::eliminate(const NormalWeights& weights, const Vector& grid, Matrix& schur) {
  grid_ = &grid;
  const Index last = y_count_ - 1;
  schur.setZero();
  for (Index k = 0; k < p_.pieces; ++k) add_weights(k, schur);
  fold_upper(schur);
  schur(last, last) = weights.norm.sum();
  if (p_.features == 0) return true;
  for (Index from = 0; from < p_.pieces; from += batch_) {
    const Index to = std::min(p_.pieces, from + batch_);
    for (Index k = from; k < to; ++k) {
      if (!factor_block(weights, k)) return false;
      eliminate_piece(weights, k);
    }
    subtract_squares(from, to, schur);
  }
  return true;
}

// Adds the piece's entries to H_yy. Off the diagonal they go to the row of the piece's z, even if that is above the
// diagonal: fold_upper() moves them below it.
void SlopeElimination::add_weights(Index k, Matrix& schur) const {
  const Index zk = p_.z_of_piece[k];
  double* row = schur.data() + zk * y_count_;
  double total = 0;
  for (Index p = entries_.begin(k); p < entries_.begin(k + 1); ++p) {
    const Index zo = p_.z_of_owner[entries_.location(p)];
    if (zo == zk) continue;
    const double weight = (*grid_)(p);
    total += weight;
    schur(zo, zo) += weight;
    row[zo] -= weight;
  }
  row[zk] += total;
}

// C_k of an incomplete set, from the weighted differences that factor_block() has left. The columns that are not 0 are
// those of the piece's entries, z_k and L.
void SlopeElimination::gather_couplings(Index k) {
  const Index zk = p_.z_of_piece[k], begin = entries_.begin(k), end = entries_.begin(k + 1);
  Index* column = columns_.data() + k * y_count_;
  Index count = 0;
  for (Index p = begin; p < end; ++p) {
    const Index zo = p_.z_of_owner[entries_.location(p)];
    if (zo != zk) column[count++] = zo;
  }
  column[count++] = zk;
  std::sort(column, column + count);
  column[count++] = y_count_ - 1;
  width_[k] = count;
  for (Index i = 0; i < count; ++i) place_[column[i]] = i;
  Eigen::Map<Matrix> c(eliminated(k), p_.features, count);
  c.setZero();
  for (Index j = 0; j < p_.features; ++j) {
    for (Index p = begin; p < end; ++p) {
      c(j, place_[p_.z_of_owner[entries_.location(p)]]) = -weighted_(p - begin, j);
    }
  }
}

// Turns C_k into E_k.
void SlopeElimination::eliminate_piece(const NormalWeights& weights, Index k) {
  const Index zk = p_.z_of_piece[k];
  if (!entries_.complete()) gather_couplings(k);
  const Index columns_here = width(k), own = entries_.complete() ? zk : place_[zk];
  for (Index j = 0; j < p_.features; ++j) {
    double* coupling = eliminated(k) + j * columns_here;
    coupling[own] -= Eigen::Map<const Vector>(coupling, columns_here - 1).sum();
    coupling[columns_here - 1] = weights.norm(k) * weights.slope_rank_one(k, j);
  }
  solve_rows(block(k), p_.features, columns_here, eliminated(k));
  if (entries_.complete()) {
    for (Index j = 0; j < p_.features; ++j) border_(k, j) = eliminated(k)[j * columns_here + columns_here - 1];
  }
}

void SlopeElimination::subtract_squares(Index from, Index to, Matrix& schur) {
  const int d = static_cast<int>(p_.features), y = static_cast<int>(y_count_);
  if (entries_.complete()) {
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, y, static_cast<int>(to - from) * d, -1, eliminated(from), y, 1,
                schur.data(), y);
    return;
  }
  for (Index k = from; k < to; ++k) {
    const int n = static_cast<int>(width(k));
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, n, d, 1, eliminated(k), n, 0, outer_.data(), n);
    const Index* column = columns(k);
    for (Index i = 0; i < width(k); ++i) {
      const double* row = outer_.data() + i * width(k);
      double* out = schur.data() + column[i] * y_count_;
      for (Index j = 0; j <= i; ++j) out[column[j]] -= row[j];
    }
  }
}

void SlopeElimination::whiten(Index k, double* v) const {
  const Index d = p_.features;
  const double* factor = block(k);
  for (Index i = 0; i < d; ++i) {
    double sum = v[i];
    for (Index j = 0; j < i; ++j) sum -= factor[i * d + j] * v[j];
    v[i] = sum / factor[i * d + i];
  }
}

// v = F_k^{-T} v.
void SlopeElimination::unwhiten(Index k, double* v) const {
  const Index d = p_.features;
  const double* factor = block(k);
  for (Index i = d - 1; i >= 0; --i) {
    v[i] /= factor[i * d + i];
    for (Index j = 0; j < i; ++j) v[j] -= factor[i * d + j] * v[i];
  }
}

void SlopeElimination::forward(double* slopes, double* y) {
  for (Index k = 0; k < p_.pieces; ++k) whiten(k, slopes + k * p_.features);
  if (entries_.complete()) return forward_by_weights(slopes, y);
  const Index d = p_.features;
  for (Index k = 0; k < p_.pieces; ++k) {
    const Index* column = columns(k);
    const Index columns_here = width(k);
    for (Index j = 0; j < d; ++j) {
      const double* e = eliminated(k) + j * columns_here;
      const double v = slopes[k * d + j];
      for (Index i = 0; i < columns_here; ++i) y[column[i]] -= v * e[i];
    }
  }
}

void SlopeElimination::backward(double* slopes, const double* y) {
  if (entries_.complete()) return backward_by_weights(slopes, y);
  const Index d = p_.features;
  for (Index k = 0; k < p_.pieces; ++k) {
    const Index* column = columns(k);
    const Index columns_here = width(k);
    for (Index i = 0; i < columns_here; ++i) gathered_(i) = y[column[i]];
    for (Index j = 0; j < d; ++j) {
      const Eigen::Map<const Vector> e(eliminated(k) + j * columns_here, columns_here);
      slopes[k * d + j] -= e.dot(gathered_.head(columns_here));
    }
    unwhiten(k, slopes + k * d);
  }
}

// With a complete set E is not stored. It is recomputed from the weights, which are d times fewer numbers to read:
// C_k' u = w (u . (anchor - location)) at the owner of each location.
void SlopeElimination::forward_by_weights(const double* slopes, double* y) {
  const Index d = p_.features, last = y_count_ - 1;
  std::copy_n(slopes, solved_.size(), solved_.data());
  for (Index k = 0; k < p_.pieces; ++k) {
    unwhiten(k, solved_.row(k).data());
    of_piece_(k) = p_.anchor.row(k).dot(solved_.row(k));
  }
  whole_->sum_weighted_affine(grid_->data(), solved_.data(), of_piece_, sum_of_piece_, of_location_);
  for (Index k = 0; k < p_.pieces; ++k) {
    y[p_.z_of_piece[k]] += sum_of_piece_(k);
    for (Index j = 0; j < d; ++j) y[last] -= border_(k, j) * slopes[k * d + j];
  }
  for (Index l = 0; l < p_.locations; ++l) y[p_.z_of_owner[l]] -= of_location_(l);
}

void SlopeElimination::backward_by_weights(double* slopes, const double* y) {
  const Index d = p_.features, last = y_count_ - 1;
  for (Index l = 0; l < p_.locations; ++l) of_location_(l) = y[p_.z_of_owner[l]];
  for (Index k = 0; k < p_.pieces; ++k) of_piece_(k) = y[p_.z_of_piece[k]];
  whole_->sum_weighted_differences(grid_->data(), of_location_, of_piece_, solved_.data(), sum_of_piece_);
  for (Index k = 0; k < p_.pieces; ++k) {
    solved_.row(k) -= sum_of_piece_(k) * p_.anchor.row(k);
    whiten(k, solved_.row(k).data());
    for (Index j = 0; j < d; ++j) slopes[k * d + j] += solved_(k, j) - border_(k, j) * y[last];
    unwhiten(k, slopes + k * d);
  }
}

}  // namespace bregmax::internal
