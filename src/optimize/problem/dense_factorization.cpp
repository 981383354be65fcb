#include <map>

#include "core/blas.hpp"
#include "core/cholesky.hpp"
#include "optimize/problem/at.hpp"
#include "optimize/problem/normal_equations.hpp"

namespace bregmax::internal {
namespace {

// All unknowns in one dense Cholesky factorization. Only the lower triangle (row-major) is filled and used.
class DenseFactorization final : public Factorization {
 public:
  DenseFactorization(const CanonicalProblem& problem, const EntrySet& entries)
      : p_(problem),
        entries_(entries),
        size_(problem.z_count + problem.pieces * problem.features + 1),
        matrix_(size_, size_),
        cholesky_(size_),
        difference_(problem.locations, problem.features),
        weighted_(problem.locations, problem.features),
        block_(problem.features, problem.features),
        from_owner_(problem.features),
        from_piece_(problem.features),
        column_weight_(problem.locations) {
    row_begin_.push_back(0);
    for (const HingeItem& item : problem.coupled) append_row(item);
  }

  bool factor(const NormalWeights& w) override {
    matrix_.setZero();
    for (Index k = 0; k < p_.pieces; ++k) add_piece(w, k);
    if (!p_.all_anchored) add_owners(w);
    for (std::size_t t = 0; t < p_.coupled.size(); ++t) add_coupled(t, w.coupled(static_cast<Index>(t)));
    matrix_.topLeftCorner(p_.z_count, p_.z_count).array() += grounding_weight(p_, w);
    const Index last = size_ - 1;
    matrix_(last, last) += w.lipschitz;
    matrix_.diagonal().head(last).array() += w.proximal;
    matrix_.diagonal().array() *= 1 + 1e-14;
    if (matrix_(last, last) == 0) matrix_(last, last) = 1;
    return cholesky_.factor(matrix_.data(), size_, size_);
  }

  void solve(const double* rhs, double* x) override {
    std::copy(rhs, rhs + size_, x);
    // Not dpotrs: for one right-hand side it copies the matrix into tiles.
    const int n = static_cast<int>(size_);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, matrix_.data(), n, x, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, matrix_.data(), n, x, 1);
  }

 private:
  Index slope_at(Index piece) const { return p_.z_count + piece * p_.features; }

  double& lower(Index i, Index j) { return i >= j ? matrix_(i, j) : matrix_(j, i); }

  // Entries (k, l) for one k: touch z of the owner, z_k and a_k.
  void add_piece(const NormalWeights& w, Index k) {
    const Index d = p_.features, zk = p_.z_of_piece[at(k)], ak = slope_at(k);
    const Index begin = entries_.begin(k), count = entries_.begin(k + 1) - begin;
    double total = 0;
    for (Index i = 0; i < count; ++i) {
      const Index l = entries_.location(begin + i), zo = p_.z_of_owner[at(l)];
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

  // Locations away from their owner's anchor touch the owner's slopes as well.
  void add_owners(const NormalWeights& w) {
    const Index d = p_.features;
    column_weight_.setZero();
    for (Index k = 0; k < p_.pieces; ++k) {
      const Index ak = slope_at(k), zk = p_.z_of_piece[at(k)];
      for (Index p = entries_.begin(k); p < entries_.begin(k + 1); ++p) {
        const Index l = entries_.location(p), ao = slope_at(p_.owner[at(l)]);
        const double weight = w.grid(p);
        if (p_.anchored[at(l)] || weight == 0) continue;  // of the owner itself among them
        from_owner_ = (p_.location.row(l) - p_.anchor.row(p_.owner[at(l)])).transpose();
        from_piece_ = (p_.location.row(l) - p_.anchor.row(k)).transpose();
        column_weight_(l) += weight;
        for (Index i = 0; i < d; ++i) {
          matrix_(ao + i, zk) -= weight * from_owner_(i);
          for (Index j = 0; j < d; ++j) lower(ao + i, ak + j) -= weight * from_owner_(i) * from_piece_(j);
        }
      }
    }
    for (Index l = 0; l < p_.locations; ++l) {
      if (p_.anchored[at(l)]) continue;
      const Index ao = slope_at(p_.owner[at(l)]), zo = p_.z_of_owner[at(l)];
      from_owner_ = (p_.location.row(l) - p_.anchor.row(p_.owner[at(l)])).transpose();
      for (Index i = 0; i < d; ++i) {
        matrix_(ao + i, zo) += column_weight_(l) * from_owner_(i);
        for (Index j = 0; j <= i; ++j) matrix_(ao + i, ao + j) += column_weight_(l) * from_owner_(i) * from_owner_(j);
      }
    }
  }

  void add_coupled(std::size_t item, double weight) {
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
    const Index k = entry / p_.locations, l = entry % p_.locations, o = p_.owner[at(l)];
    row[p_.z_of_owner[at(l)]] += sign;
    row[p_.z_of_piece[at(k)]] -= sign;
    for (Index j = 0; j < p_.features; ++j) row[slope_at(k) + j] -= sign * (p_.location(l, j) - p_.anchor(k, j));
    if (p_.anchored[at(l)]) return;
    for (Index j = 0; j < p_.features; ++j) row[slope_at(o) + j] += sign * (p_.location(l, j) - p_.anchor(o, j));
  }

  const CanonicalProblem& p_;
  const EntrySet& entries_;
  Index size_;
  Matrix matrix_;
  Cholesky cholesky_;
  Matrix difference_, weighted_, block_;
  Vector from_owner_, from_piece_, column_weight_;
  std::vector<std::size_t> row_begin_;  // of each coupled hinge, in the next two
  std::vector<Index> unknown_;
  std::vector<double> coefficient_;
};

}  // namespace

std::unique_ptr<Factorization> make_dense_factorization(const CanonicalProblem& problem, const EntrySet& entries) {
  return std::make_unique<DenseFactorization>(problem, entries);
}

}  // namespace bregmax::internal
