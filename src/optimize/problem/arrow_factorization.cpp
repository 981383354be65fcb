#include <algorithm>
#include <cmath>

#include "core/blas.hpp"
#include "core/cholesky.hpp"
#include "optimize/problem/at.hpp"
#include "optimize/problem/slope_elimination.hpp"

namespace bregmax::internal {
namespace {

constexpr double kExactLeverage = 0.1;
// What the downdate may cost: this share of a dense factorization of everything.
constexpr double kUpdateBudget = 0.15;

// For anchored problems. Without the coupled hinges the matrix is an arrow, whose shafts SlopeElimination takes away.
//
// A coupling w (u - v)(u - v)' on entries u, v, mostly of different pieces, is 2 w (u u' + v v') - w (u + v)(u + v)':
// the first part is a weight of two entries and stays in the arrow, the second is a low-rank downdate (Woodbury). An
// update by (u - v) itself would cancel where only the coupling holds a direction; so written, nothing is lost that the
// sum of the weights has not lost already. Most couplings are far from their kink in most iterations and weigh next to
// nothing: only those with leverage w v' A^{-1} v above kExactLeverage are in the downdate, the others leave their
// cross term u v' to conjugate gradients.
class ArrowFactorization final : public Factorization {
 public:
  ArrowFactorization(const CanonicalProblem& problem, const EntrySet& entries)
      : p_(problem),
        entries_(entries),
        slopes_(problem, entries),
        y_count_(slopes_.y_count()),
        grid_(problem.entries()),
        schur_(y_count_, y_count_),
        cholesky_(std::max<Index>(y_count_, static_cast<Index>(problem.coupled.size()))),
        forward_(problem.pieces * problem.features),
        forward_y_(y_count_) {
    const auto items = static_cast<Index>(problem.coupled.size());
    whitened_.resize(2 * std::max<Index>(items, 1), problem.features);
    chosen_.reserve(at(items));
    items_of_piece_.resize(at(problem.pieces));
    std::vector<Index> touching(at(problem.pieces), 0);
    for (const HingeItem& item : problem.coupled) {
      ++touching[at(item.plus / problem.locations)];
      ++touching[at(item.minus / problem.locations)];
    }
    Index most = 0;
    for (Index k = 0; k < problem.pieces; ++k) {
      items_of_piece_[at(k)].reserve(at(touching[at(k)]));
      most = std::max(most, touching[at(k)]);
    }
    gathered_.resize(most, problem.features);
    products_.resize(most, std::max(most, y_count_));
    if (items > 0) {
      const double budget = kUpdateBudget * std::pow(static_cast<double>(forward_.size() + y_count_), 3) / 3;
      const double y = static_cast<double>(y_count_);
      while (most_exact_ < items) {
        const double r = static_cast<double>(most_exact_ + 16);
        if (r * r * r / 3 + r * r * y + r * y * y > budget) break;
        most_exact_ += 16;
      }
      most_exact_ = std::min(most_exact_, items);
      leverage_.resize(items);
      reduced_.resize(most_exact_, y_count_);
      update_.resize(most_exact_, most_exact_);
      update_rhs_.resize(most_exact_);
    }
  }

  bool factor(const NormalWeights& w) override {
    grid_.head(entries_.size()) = w.grid.head(entries_.size());
    if (!p_.coupled.empty() && !choose_items(w)) return false;
    return factor_arrow(w) && (chosen_.empty() || factor_update(w));
  }

  // With M0 = G G' the whole inverse is G^{-T} (I + U' Q^{-1} U) G^{-1}, U = V G^{-T} = (whitened_, reduced_), the rows
  // of V being u + v: one forward and one backward sweep, however many couplings there are.
  void solve(const double* rhs, double* x) override {
    forward_sweep(rhs);
    if (!chosen_.empty()) apply_update();
    backward_sweep(x);
  }

 private:
  bool factor_arrow(const NormalWeights& w) {
    if (!slopes_.eliminate(w, grid_, schur_)) return false;
    const Index last = y_count_ - 1;
    schur_(last, last) += w.lipschitz;
    schur_.topLeftCorner(last, last).array() += grounding_weight(p_, w);
    schur_.diagonal().head(last).array() += w.proximal;
    schur_.diagonal().array() *= 1 + 1e-14;
    if (schur_(last, last) == 0) schur_(last, last) = 1;
    return cholesky_.factor(schur_.data(), y_count_, y_count_);
  }

  void forward_sweep(const double* rhs) {
    const Index z = p_.z_count, slopes = forward_.size();
    std::copy(rhs + z, rhs + z + slopes, forward_.data());
    std::copy(rhs, rhs + z, forward_y_.data());
    forward_y_(z) = rhs[z + slopes];
    slopes_.forward(forward_.data(), forward_y_.data());
    const int y_int = static_cast<int>(y_count_);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, y_int, schur_.data(), y_int, forward_y_.data(),
                1);
  }

  void backward_sweep(double* x) {
    const Index z = p_.z_count, slopes = forward_.size();
    const int y_int = static_cast<int>(y_count_);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, y_int, schur_.data(), y_int, forward_y_.data(), 1);
    slopes_.backward(forward_.data(), forward_y_.data());
    std::copy(forward_y_.data(), forward_y_.data() + z, x);
    std::copy(forward_.data(), forward_.data() + slopes, x + z);
    x[z + slopes] = forward_y_(z);
  }

  // (forward_, forward_y_) += U' Q^{-1} U (forward_, forward_y_).
  void apply_update() {
    const auto count = static_cast<Index>(chosen_.size());
    const Index d = p_.features;
    const int n = static_cast<int>(count), y_int = static_cast<int>(y_count_);
    const int stride = static_cast<int>(update_.cols());
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, y_int, 1, reduced_.data(), y_int, forward_y_.data(), 1, 0,
                update_rhs_.data(), 1);
    const auto half = [&](Index r, bool minus) {
      const HingeItem& item = p_.coupled[at(chosen_[at(r)])];
      return ((minus ? item.minus : item.plus) / p_.locations) * d;
    };
    for (Index r = 0; r < count; ++r) {
      for (const bool minus : {false, true}) {
        const double* u = whitened_.data() + (2 * r + (minus ? 1 : 0)) * d;
        const double* v = forward_.data() + half(r, minus);
        double sum = 0;
        for (Index j = 0; j < d; ++j) sum += u[j] * v[j];
        update_rhs_(r) += sum;
      }
    }
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, update_.data(), stride, update_rhs_.data(),
                1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, update_.data(), stride, update_rhs_.data(), 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, y_int, 1, reduced_.data(), y_int, update_rhs_.data(), 1, 1,
                forward_y_.data(), 1);
    for (Index r = 0; r < count; ++r) {
      for (const bool minus : {false, true}) {
        const double* u = whitened_.data() + (2 * r + (minus ? 1 : 0)) * d;
        double* v = forward_.data() + half(r, minus);
        for (Index j = 0; j < d; ++j) v[j] += update_rhs_(r) * u[j];
      }
    }
  }

  // Factors Q = W^{-1} - V M0^{-1} V' for the chosen couplings.
  bool factor_update(const NormalWeights& w) {
    const auto count = static_cast<Index>(chosen_.size());
    for (Index r = 0; r < count; ++r) whiten(p_.coupled[at(chosen_[at(r)])], r);
    for (auto& list : items_of_piece_) list.clear();
    for (Index r = 0; r < count; ++r) {
      const HingeItem& item = p_.coupled[at(chosen_[at(r)])];
      items_of_piece_[at(item.plus / p_.locations)].push_back(2 * r);
      items_of_piece_[at(item.minus / p_.locations)].push_back(2 * r + 1);
    }
    reduce_items(count);
    const int n = static_cast<int>(count), y_int = static_cast<int>(y_count_),
              stride = static_cast<int>(update_.cols());
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, y_int, 1, schur_.data(), y_int,
                reduced_.data(), y_int);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, y_int, -1, reduced_.data(), y_int, 0, update_.data(),
                stride);
    add_block_products();
    for (Index r = 0; r < count; ++r) {
      update_(r, r) += (1 + 1e-13) / w.coupled(chosen_[at(r)]);
    }
    return cholesky_.factor(update_.data(), count, update_.cols());
  }

  // Splits the couplings into those treated exactly (chosen_), whose entries get twice their weight, and the rest,
  // whose entries get it once.
  bool choose_items(const NormalWeights& w) {
    if (!slopes_.factor_blocks(w, grid_)) return false;
    chosen_.clear();
    const auto items = static_cast<Index>(p_.coupled.size());
    for (Index t = 0; t < items; ++t) {
      leverage_(t) = w.coupled(t) * whiten(p_.coupled[at(t)], 0);
      if (leverage_(t) > kExactLeverage) chosen_.push_back(t);
    }
    if (static_cast<Index>(chosen_.size()) > most_exact_) {
      std::nth_element(chosen_.begin(), chosen_.begin() + most_exact_, chosen_.end(), [&](Index a, Index b) {
        return leverage_(a) != leverage_(b) ? leverage_(a) > leverage_(b) : a < b;
      });
      chosen_.resize(at(most_exact_));
      std::sort(chosen_.begin(), chosen_.end());
    }
    std::size_t next = 0;
    for (Index t = 0; t < items; ++t) {
      const bool chosen = next < chosen_.size() && chosen_[next] == t;
      if (chosen) ++next;
      grid_(entries_.position(p_.coupled[at(t)].plus)) += (chosen ? 2 : 1) * w.coupled(t);
      grid_(entries_.position(p_.coupled[at(t)].minus)) += (chosen ? 2 : 1) * w.coupled(t);
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
      const HingeItem& item = p_.coupled[at(chosen_[at(r)])];
      reduced_(r, p_.z_of_owner[at(item.plus % p_.locations)]) += 1;
      reduced_(r, p_.z_of_piece[at(item.plus / p_.locations)]) -= 1;
      reduced_(r, p_.z_of_owner[at(item.minus % p_.locations)]) += 1;
      reduced_(r, p_.z_of_piece[at(item.minus / p_.locations)]) -= 1;
    }
    for (Index k = 0; k < p_.pieces; ++k) {
      const Index halves = gather(k);
      if (halves == 0) continue;
      const auto row_of_half = [&](Index h) {
        return reduced_.data() + (items_of_piece_[at(k)][at(h)] / 2) * y_count_;
      };
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
        const Index row = items_of_piece_[at(k)][at(g)] / 2;
        for (Index h = 0; h < halves; ++h) {
          const Index column = items_of_piece_[at(k)][at(h)] / 2;
          if (column <= row) update_(row, column) -= products_.data()[g * halves + h];
        }
      }
    }
  }

  Index gather(Index k) {
    const auto& list = items_of_piece_[at(k)];
    for (std::size_t h = 0; h < list.size(); ++h) {
      std::copy_n(whitened_.data() + list[h] * p_.features, p_.features,
                  gathered_.data() + static_cast<Index>(h) * p_.features);
    }
    return static_cast<Index>(list.size());
  }

  const CanonicalProblem& p_;
  const EntrySet& entries_;
  SlopeElimination slopes_;
  Index y_count_;
  Vector leverage_;
  Index most_exact_ = 0;
  Vector grid_;  // weights of the entries, those of the couplings included
  Matrix schur_;
  Cholesky cholesky_;
  Vector forward_, forward_y_;
  Matrix whitened_, reduced_, update_, gathered_, products_;
  Vector update_rhs_;
  std::vector<Index> chosen_;
  std::vector<std::vector<Index>> items_of_piece_;
};

}  // namespace

std::unique_ptr<Factorization> make_arrow_factorization(const CanonicalProblem& problem, const EntrySet& entries) {
  return std::make_unique<ArrowFactorization>(problem, entries);
}

}  // namespace bregmax::internal
