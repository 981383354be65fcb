#include "optimize/problem/factorization.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/cholesky.hpp"
#include "optimize/problem/slope_elimination.hpp"

namespace bregmax::internal {
namespace {

// Adds the terms that the dense and the arrow matrix share (those of entries and norms are already in), and factors.
// The first unknowns are z, the last is L.
bool factor_completed(const CanonicalProblem& problem, const NormalWeights& w, Cholesky& cholesky, Matrix& matrix) {
  const Index last = matrix.rows() - 1;
  matrix.topLeftCorner(problem.z_count, problem.z_count).array() += grounding_weight(problem, w);
  matrix(last, last) += w.lipschitz;
  matrix.diagonal().head(last).array() += w.proximal;
  matrix.diagonal().array() *= 1 + 1e-14;
  if (matrix(last, last) == 0) matrix(last, last) = 1;
  return cholesky.factor(matrix.data(), matrix.rows(), matrix.cols());
}

// All unknowns in one dense Cholesky factorization. Only the lower triangle (row-major) is filled and used.
class DenseFactorization final : public Factorization {
 public:
  DenseFactorization(const CanonicalProblem& problem, const EntrySet& entries) : p_(problem), entries_(entries) {
    row_begin_.push_back(0);
    for (const HingeItem& item : problem.coupled) append_row(item);
  }

  bool factor(const NormalWeights& w) override {
    matrix_.setZero();
    for (Index k = 0; k < p_.pieces; ++k) add_piece(w, k);
    if (!p_.all_anchored) add_owners(w);
    for (Index t = 0; t < w.coupled.size(); ++t) add_coupled(t, w.coupled(t));
    return factor_completed(p_, w, cholesky_, matrix_);
  }

  void solve(const double* rhs, double* x) override {
    std::copy(rhs, rhs + size_, x);
    // Not dpotrs: for one right-hand side it copies the matrix into tiles.
    for (const bool transposed : {false, true}) solve_lower(matrix_, size_, transposed, x);
  }

 private:
  Index slope_at(Index piece) const { return p_.z_count + piece * p_.features; }

  double& lower(Index i, Index j) { return i >= j ? matrix_(i, j) : matrix_(j, i); }

  // The entries (k, l) of one piece k, which involve z of the owner, z_k and a_k.
  void add_piece(const NormalWeights& w, Index k) {
    const Index d = p_.features, zk = p_.z_of_piece[k], ak = slope_at(k);
    const Index begin = entries_.begin(k), count = entries_.begin(k + 1) - begin;
    double total = 0;
    for (Index i = 0; i < count; ++i) {
      const Index l = entries_.location(begin + i), zo = p_.z_of_owner[l];
      const double weight = w.grid(begin + i);
      difference_.row(i) = p_.location.row(l) - p_.anchor.row(k);
      weighted_.row(i) = weight * difference_.row(i);
      matrix_(zo, zo) += weight;
      lower(zo, zk) -= zo == zk ? 2 * weight : weight;
      total += weight;
      for (Index j = 0; j < d; ++j) matrix_(ak + j, zo) -= weighted_(i, j);
    }
    matrix_(zk, zk) += total;
    for (Index j = 0; j < d; ++j) matrix_(ak + j, zk) += weighted_.col(j).head(count).sum();
    gemm(true, false, d, d, count, 1, difference_.data(), d, weighted_.data(), d, 0, block_.data(), d);
    const Index last = size_ - 1;
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j <= i; ++j) {
        matrix_(ak + i, ak + j) += block_(i, j) + w.norm(k) * w.slope_rank_one(k, i) * w.slope_rank_one(k, j);
      }
      matrix_(ak + i, ak + i) += w.slope_diagonal(k, i);
      matrix_(last, ak + i) += w.norm(k) * w.slope_rank_one(k, i);
    }
    matrix_(last, last) += w.norm(k);
  }

  // At locations that are not anchored, entries also involve the owner's slopes.
  void add_owners(const NormalWeights& w) {
    const Index d = p_.features;
    column_weight_.setZero();
    for (Index k = 0; k < p_.pieces; ++k) {
      const Index ak = slope_at(k), zk = p_.z_of_piece[k];
      for (Index p = entries_.begin(k); p < entries_.begin(k + 1); ++p) {
        const Index l = entries_.location(p), ao = slope_at(p_.owner[l]);
        const double weight = w.grid(p);
        if (p_.anchored[l] || weight == 0) continue;  // the owner's own entry has weight 0
        from_owner_ = (p_.location.row(l) - p_.anchor.row(p_.owner[l])).transpose();
        from_piece_ = (p_.location.row(l) - p_.anchor.row(k)).transpose();
        column_weight_(l) += weight;
        for (Index i = 0; i < d; ++i) {
          matrix_(ao + i, zk) -= weight * from_owner_(i);
          for (Index j = 0; j < d; ++j) lower(ao + i, ak + j) -= weight * from_owner_(i) * from_piece_(j);
        }
      }
    }
    for (Index l = 0; l < p_.locations; ++l) {
      if (p_.anchored[l]) continue;
      const Index ao = slope_at(p_.owner[l]), zo = p_.z_of_owner[l];
      from_owner_ = (p_.location.row(l) - p_.anchor.row(p_.owner[l])).transpose();
      for (Index i = 0; i < d; ++i) {
        matrix_(ao + i, zo) += column_weight_(l) * from_owner_(i);
        for (Index j = 0; j <= i; ++j) matrix_(ao + i, ao + j) += column_weight_(l) * from_owner_(i) * from_owner_(j);
      }
    }
  }

  void add_coupled(Index item, double weight) {
    for (std::size_t i = row_begin_[item]; i < row_begin_[item + 1]; ++i) {
      double* row = matrix_.data() + unknown_[i] * size_;
      const double factor = weight * coefficient_[i];
      for (std::size_t j = row_begin_[item]; j <= i; ++j) row[unknown_[j]] += factor * coefficient_[j];
    }
  }

  // One row of the coupled hinges, D[plus] - D[minus], in the order of the unknowns.
  void append_row(const HingeItem& item) {
    std::map<Index, double> row;
    add_entry(item.plus, 1, row);
    add_entry(item.minus, -1, row);
    for (const auto& [unknown, coefficient] : row) {
      unknown_.push_back(unknown);
      coefficient_.push_back(coefficient);
    }
    row_begin_.push_back(unknown_.size());
  }
  void add_entry(Index entry, double sign, std::map<Index, double>& row) const {
    const Index k = entry / p_.locations, l = entry % p_.locations, o = p_.owner[l];
    row[p_.z_of_owner[l]] += sign;
    row[p_.z_of_piece[k]] -= sign;
    for (Index j = 0; j < p_.features; ++j) row[slope_at(k) + j] -= sign * (p_.location(l, j) - p_.anchor(k, j));
    if (p_.anchored[l]) return;
    for (Index j = 0; j < p_.features; ++j) row[slope_at(o) + j] += sign * (p_.location(l, j) - p_.anchor(o, j));
  }

  const CanonicalProblem& p_;
  const EntrySet& entries_;
  Index size_ = p_.z_count + p_.pieces * p_.features + 1;
  Matrix matrix_ = Matrix(size_, size_);
  Cholesky cholesky_{size_};
  Matrix difference_ = Matrix(p_.locations, p_.features), weighted_ = difference_;
  Matrix block_ = Matrix(p_.features, p_.features);
  Vector from_owner_ = Vector(p_.features), from_piece_ = from_owner_, column_weight_ = Vector(p_.locations);
  std::vector<std::size_t> row_begin_;  // of each coupled hinge, in the next two
  std::vector<Index> unknown_;
  std::vector<double> coefficient_;
};

constexpr double kExactLeverage = 0.1;
// The downdate may cost this share of a dense factorization of all unknowns.
constexpr double kDowndateBudget = 0.15;

// For anchored problems. Without coupled hinges the matrix is an arrow: slopes meet only themselves, z and L, and
// SlopeElimination eliminates them.
//
// The arrow contains every coupled hinge w (u - v)(u - v)', on entries u and v, with twice its weight, as
// 2 w (u u' + v v'). A low-rank downdate (Woodbury) subtracts w (u + v)(u + v)'. An update by w (u - v)(u - v)' would
// cancel digits where only the hinge determines a direction.
//
// In most iterations most hinges are far from their kink and weigh next to nothing. Only those with leverage
// w v' A^{-1} v above kExactLeverage are in the downdate. Of the others the arrow has the diagonal part w (u u' + v
// v'), and conjugate gradients correct for the rest.
class ArrowFactorization final : public Factorization {
 public:
  ArrowFactorization(const CanonicalProblem& problem, const EntrySet& entries)
      : p_(problem), entries_(entries), slopes_(problem, entries) {
    const Index items = std::ssize(problem.coupled);
    whitened_.resize(2 * std::max<Index>(items, 1), problem.features);
    chosen_.reserve(items);
    items_of_piece_.resize(problem.pieces);
    std::vector<std::size_t> touching(problem.pieces, 0);
    for (const HingeItem& item : problem.coupled) {
      for (const Index e : {item.plus, item.minus}) ++touching[e / problem.locations];
    }
    for (std::size_t k = 0; k < touching.size(); ++k) items_of_piece_[k].reserve(touching[k]);
    const auto most = static_cast<Index>(*std::max_element(touching.begin(), touching.end()));
    gathered_.resize(most, problem.features);
    products_.resize(most, std::max(most, y_count_));
    if (items > 0) {
      const double budget = kDowndateBudget * std::pow(static_cast<double>(forward_.size() + y_count_), 3) / 3;
      const double y = static_cast<double>(y_count_);
      while (most_exact_ < items) {
        const double r = static_cast<double>(most_exact_ + 16);
        if (r * r * r / 3 + r * r * y + r * y * y > budget) break;
        most_exact_ += 16;
      }
      most_exact_ = std::min(most_exact_, items);
      leverage_.resize(items);
      reduced_.resize(most_exact_, y_count_);
      downdate_.resize(most_exact_, most_exact_);
      downdate_rhs_.resize(most_exact_);
    }
  }

  bool factor(const NormalWeights& w) override {
    grid_.head(entries_.size()) = w.grid.head(entries_.size());
    if (!p_.coupled.empty() && !choose_items(w)) return false;
    if (!slopes_.eliminate(w, grid_, schur_) || !factor_completed(p_, w, cholesky_, schur_)) return false;
    return chosen_.empty() || factor_downdate(w);
  }

  // With M0 = G G' the whole inverse is G^{-T} (I + U' Q^{-1} U) G^{-1}, U = V G^{-T} = (whitened_, reduced_), the rows
  // of V being u + v: one forward and one backward sweep, however many couplings there are.
  void solve(const double* rhs, double* x) override {
    forward_sweep(rhs);
    if (!chosen_.empty()) apply_downdate();
    backward_sweep(x);
  }

 private:
  void forward_sweep(const double* rhs) {
    const Index z = p_.z_count, slopes = forward_.size();
    std::copy(rhs + z, rhs + z + slopes, forward_.data());
    std::copy(rhs, rhs + z, forward_y_.data());
    forward_y_(z) = rhs[z + slopes];
    slopes_.forward(forward_.data(), forward_y_.data());
    solve_lower(schur_, y_count_, false, forward_y_.data());
  }

  void backward_sweep(double* x) {
    const Index z = p_.z_count, slopes = forward_.size();
    solve_lower(schur_, y_count_, true, forward_y_.data());
    slopes_.backward(forward_.data(), forward_y_.data());
    std::copy(forward_y_.data(), forward_y_.data() + z, x);
    std::copy(forward_.data(), forward_.data() + slopes, x + z);
    x[z + slopes] = forward_y_(z);
  }

  // (forward_, forward_y_) += U' Q^{-1} U (forward_, forward_y_).
  void apply_downdate() {
    const Index count = std::ssize(chosen_);
    const Index d = p_.features;
    const int n = static_cast<int>(count), y_int = static_cast<int>(y_count_);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, y_int, 1, reduced_.data(), y_int, forward_y_.data(), 1, 0,
                downdate_rhs_.data(), 1);
    // Half h of the chosen couplings, and the slopes of its piece.
    const auto half = [&](Index h) { return whitened_.data() + h * d; };
    const auto slopes_of = [&](Index h) {
      const HingeItem& item = p_.coupled[chosen_[h / 2]];
      return forward_.data() + ((h % 2 == 0 ? item.plus : item.minus) / p_.locations) * d;
    };
    for (Index h = 0; h < 2 * count; ++h) {
      downdate_rhs_(h / 2) += std::inner_product(half(h), half(h) + d, slopes_of(h), 0.0);
    }
    for (const bool transposed : {false, true}) solve_lower(downdate_, count, transposed, downdate_rhs_.data());
    cblas_dgemv(CblasRowMajor, CblasTrans, n, y_int, 1, reduced_.data(), y_int, downdate_rhs_.data(), 1, 1,
                forward_y_.data(), 1);
    for (Index h = 0; h < 2 * count; ++h) {
      for (Index j = 0; j < d; ++j) slopes_of(h)[j] += downdate_rhs_(h / 2) * half(h)[j];
    }
  }

  // Factors Q = W^{-1} - V M0^{-1} V' for the chosen couplings.
  bool factor_downdate(const NormalWeights& w) {
    const Index count = std::ssize(chosen_);
    for (auto& list : items_of_piece_) list.clear();
    for (Index r = 0; r < count; ++r) {
      const HingeItem& item = p_.coupled[chosen_[r]];
      whiten(item, r);
      items_of_piece_[item.plus / p_.locations].push_back(2 * r);
      items_of_piece_[item.minus / p_.locations].push_back(2 * r + 1);
    }
    reduce_items(count);
    const int n = static_cast<int>(count), y_int = static_cast<int>(y_count_);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, y_int, 1, schur_.data(), y_int,
                reduced_.data(), y_int);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, y_int, -1, reduced_.data(), y_int, 0, downdate_.data(),
                static_cast<int>(downdate_.cols()));
    add_block_products();
    for (Index r = 0; r < count; ++r) downdate_(r, r) += (1 + 1e-13) / w.coupled(chosen_[r]);
    return cholesky_.factor(downdate_.data(), count, downdate_.cols());
  }

  // Splits the couplings into those treated exactly (chosen_), whose entries get twice their weight, and the rest,
  // whose entries get it once.
  bool choose_items(const NormalWeights& w) {
    if (!slopes_.factor_blocks(w, grid_)) return false;
    chosen_.clear();
    const Index items = std::ssize(p_.coupled);
    for (Index t = 0; t < items; ++t) {
      leverage_(t) = w.coupled(t) * whiten(p_.coupled[t], 0);
      if (leverage_(t) > kExactLeverage) chosen_.push_back(t);
    }
    if (std::ssize(chosen_) > most_exact_) {
      std::nth_element(chosen_.begin(), chosen_.begin() + most_exact_, chosen_.end(), [&](Index a, Index b) {
        return leverage_(a) != leverage_(b) ? leverage_(a) > leverage_(b) : a < b;
      });
      chosen_.resize(most_exact_);
      std::sort(chosen_.begin(), chosen_.end());
    }
    std::size_t next = 0;
    for (Index t = 0; t < items; ++t) {
      const bool chosen = next < chosen_.size() && chosen_[next] == t;
      if (chosen) ++next;
      grid_(entries_.position(p_.coupled[t].plus)) += (chosen ? 2 : 1) * w.coupled(t);
      grid_(entries_.position(p_.coupled[t].minus)) += (chosen ? 2 : 1) * w.coupled(t);
    }
    return true;
  }

  // Puts F_k^{-1} times the slope part of each half of a coupling into rows 2r, 2r + 1 of whitened_; returns the sum
  // of their squares, v' A^{-1} v.
  double whiten(const HingeItem& item, Index r) {
    const Index d = p_.features;
    double square = 0;
    for (const bool minus : {false, true}) {
      const Index e = minus ? item.minus : item.plus, k = e / p_.locations, l = e % p_.locations;
      double* v = whitened_.data() + (2 * r + (minus ? 1 : 0)) * d;
      for (Index i = 0; i < d; ++i) v[i] = p_.anchor(k, i) - p_.location(l, i);
      slopes_.whiten(k, v);
      for (Index i = 0; i < d; ++i) square += v[i] * v[i];
    }
    return square;
  }

  // reduced_(r) = y part of the coupling - sum over its two halves of E_k' (whitened half).
  void reduce_items(Index count) {
    reduced_.topRows(count).setZero();
    for (Index r = 0; r < count; ++r) {
      const HingeItem& item = p_.coupled[chosen_[r]];
      for (const Index e : {item.plus, item.minus}) {
        reduced_(r, p_.z_of_owner[e % p_.locations]) += 1;
        reduced_(r, p_.z_of_piece[e / p_.locations]) -= 1;
      }
    }
    for (Index k = 0; k < p_.pieces; ++k) {
      const Index halves = gather(k);
      if (halves == 0) continue;
      const auto row_of_half = [&](Index h) { return reduced_.data() + (items_of_piece_[k][h] / 2) * y_count_; };
      slopes_.subtract_products(k, halves, gathered_.data(), products_.data(), row_of_half);
    }
  }

  void add_block_products() {
    for (Index k = 0; k < p_.pieces; ++k) {
      const Index halves = gather(k);
      if (halves == 0) continue;
      gemm(false, true, halves, halves, p_.features, 1, gathered_.data(), p_.features, gathered_.data(), p_.features, 0,
           products_.data(), halves);
      for (Index g = 0; g < halves; ++g) {
        const Index row = items_of_piece_[k][g] / 2;
        for (Index h = 0; h < halves; ++h) {
          const Index column = items_of_piece_[k][h] / 2;
          if (column <= row) downdate_(row, column) -= products_.data()[g * halves + h];
        }
      }
    }
  }

  Index gather(Index k) {
    const auto& list = items_of_piece_[k];
    for (std::size_t h = 0; h < list.size(); ++h) {
      std::copy_n(whitened_.data() + list[h] * p_.features, p_.features, gathered_.data() + h * p_.features);
    }
    return std::ssize(list);
  }

  const CanonicalProblem& p_;
  const EntrySet& entries_;
  SlopeElimination slopes_;
  Index y_count_ = slopes_.y_count();
  Vector leverage_;
  Index most_exact_ = 0;
  Vector grid_ = Vector(p_.entries());  // weights of the entries, those of the couplings included
  Matrix schur_ = Matrix(y_count_, y_count_);
  Cholesky cholesky_{std::max<Index>(y_count_, std::ssize(p_.coupled))};
  Vector forward_ = Vector(p_.pieces * p_.features), forward_y_ = Vector(y_count_);
  Matrix whitened_, reduced_, downdate_, gathered_, products_;
  Vector downdate_rhs_;
  std::vector<Index> chosen_;
  std::vector<std::vector<Index>> items_of_piece_;
};

}  // namespace

NormalWeights::NormalWeights(const CanonicalProblem& problem)
    : grid(Vector::Zero(problem.entries())),
      coupled(Vector::Zero(std::ssize(problem.coupled))),
      slope_diagonal(Matrix::Zero(problem.pieces, problem.features)),
      slope_rank_one(slope_diagonal),
      norm(Vector::Zero(problem.pieces)) {}

double grounding_weight(const CanonicalProblem& problem, const NormalWeights& weights) {
  const double mean = weights.grid.sum() / static_cast<double>(std::max<Index>(1, weights.grid.size()));
  return (mean + weights.proximal + 1e-12) / static_cast<double>(problem.z_count);
}

std::unique_ptr<Factorization> make_dense_factorization(const CanonicalProblem& problem, const EntrySet& entries) {
  return std::make_unique<DenseFactorization>(problem, entries);
}

std::unique_ptr<Factorization> make_arrow_factorization(const CanonicalProblem& problem, const EntrySet& entries) {
  return std::make_unique<ArrowFactorization>(problem, entries);
}

}  // namespace bregmax::internal
