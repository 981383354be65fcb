#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "bregmax/divergence/mahalanobis.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/packed_symmetric.hpp"
#include "methods/training_rows.hpp"

namespace bregmax::internal {

// A cutting plane of metric learning to rank, averaged over the queries: loss(W) >= offset - <W, slope> for every W,
// with equality at the W that it was found for.
struct RankingCut {
  Matrix slope;
  double offset = 0;
};

// The rankings that violate most under a metric, for every row as a query.
class RankingQueries {
 public:
  // A row is a query unless its class has no other row, or has all rows. There must be a query.
  RankingQueries(const MatrixView& rows, const ClassOfRow& class_of_row)
      : rows_(centered(rows)), class_of_row_(class_of_row) {
    for (const int own : class_of_row_) {
      const auto size = std::ranges::count(class_of_row_, own);
      if (size >= 2 && size < std::ssize(class_of_row_)) ++queries_;
    }
  }

  RankingCut most_violated(const Matrix& metric) const {
    const Index count = rows_.rows();
    const Matrix divergences = Mahalanobis(metric).matrix(rows_, rows_);
    Matrix counts = Matrix::Zero(count, count);
    Vector losses = Vector::Zero(count);
#pragma omp parallel
    {
      Query query;
#pragma omp for schedule(static)
      for (Index q = 0; q < count; ++q) {
        query.collect(divergences, class_of_row_, q);
        if (query.relevant.empty() || query.irrelevant.empty()) continue;
        losses(q) = query.count_violations(counts.row(q));
      }
    }
    // psi(q, y*) - psi(q, y) = -sum_i counts_i (q - x_i)(q - x_i)^T, summed over all queries without forming any of
    // them.
    const double scale = 1 / static_cast<double>(queries_);
    const Vector degrees = counts.rowwise().sum() + counts.colwise().sum().transpose();
    const Matrix mixed = transposed_product(rows_, product(counts, rows_));
    RankingCut cut;
    cut.slope = -scale * (transposed_product(rows_, degrees.asDiagonal() * rows_) - mixed - mixed.transpose());
    cut.offset = scale * losses.sum();
    return cut;
  }

 private:
  // The candidates of one query, by their divergence.
  struct Query {
    std::vector<std::pair<double, Index>> relevant, irrelevant;  // divergence, row

    void collect(const Matrix& divergences, const ClassOfRow& class_of_row, Index query) {
      relevant.clear();
      irrelevant.clear();
      const int own = class_of_row[query];
      for (Index row = 0; row < divergences.cols(); ++row) {
        if (row == query) continue;
        auto& list = class_of_row[row] == own ? relevant : irrelevant;
        list.emplace_back(divergences(query, row), row);
      }
      std::ranges::sort(relevant);
      std::ranges::sort(irrelevant);
    }

    // The pair (i relevant, j irrelevant) is put in the wrong order where that gains: its loss 1 exceeds the margin
    // 2 (D_j - D_i) that it gives up. Returns the gained loss; `counts` gets 2 times the number of such pairs, positive
    // for relevant and negative for irrelevant candidates, over the number of all pairs.
    double count_violations(Eigen::Ref<Eigen::RowVectorXd> counts) const {
      const double unit = 1 / (static_cast<double>(relevant.size()) * static_cast<double>(irrelevant.size()));
      constexpr double kMargin = 0.5;
      double violated = 0;
      std::size_t below = 0;  // irrelevant candidates within the margin of the relevant one
      for (const auto& [divergence, row] : relevant) {
        while (below < irrelevant.size() && irrelevant[below].first < divergence + kMargin) ++below;
        counts(row) = 2 * unit * static_cast<double>(below);
        violated += static_cast<double>(below);
      }
      std::size_t above = relevant.size();  // relevant candidates that have this irrelevant one within the margin
      for (auto candidate = irrelevant.rbegin(); candidate != irrelevant.rend(); ++candidate) {
        while (above > 0 && candidate->first < relevant[above - 1].first + kMargin) --above;
        counts(candidate->second) = -2 * unit * static_cast<double>(relevant.size() - above);
      }
      return violated * unit;
    }
  };

  Matrix rows_;  // centred: differences are the same, and their squares lose fewer digits
  ClassOfRow class_of_row_;
  Index queries_ = 0;
};

// The master problem of metric learning to rank,
//
//   minimise    tr(W) + C xi
//   subject to  xi >= offset_k - <W, slope_k> for every cutting plane k,  xi >= 0,  W positive semidefinite,
//
// in its dual: maximise sum_k alpha_k offset_k subject to alpha >= 0, sum_k alpha_k <= C and
// Z = I - sum_k alpha_k slope_k positive semidefinite, by Newton's method on the logarithmic barrier with weight mu.
// Near the central path W = mu Z^-1 is the primal solution, and the gap is mu times the number of barriers.
class CuttingPlaneMaster {
 public:
  CuttingPlaneMaster(Index features, double c)
      : features_(features), c_(c), slopes_(0, features * features), lower_(Matrix::Identity(features, features)) {}

  void add(const RankingCut& cut) {
    const Index count = size();
    const Vector before = multipliers_;
    multipliers_.conservativeResize(count + 1);
    offsets_.conservativeResize(count + 1);
    slopes_.conservativeResize(count + 1, Eigen::NoChange);
    offsets_(count) = cut.offset;
    slopes_.row(count) = Eigen::Map<const Eigen::RowVectorXd>(cut.slope.data(), cut.slope.size());
    idle_.push_back(0);
    // The sum of the multipliers is close to its limit, so the new one takes a share from the others: the one with the
    // best value of the barrier function.
    const double all = count == 0 ? c_ : before.sum();
    Vector best;
    double best_value = kOutside;
    for (int k = 1; k <= kMostHalvings && (best.size() == 0 || k <= kUsefulHalvings); ++k) {
      const double share = std::ldexp(1.0, -k);
      Vector trial(count + 1);
      trial << (1 - share) * before, share * all;
      const double value = move_to(trial);
      if (value > best_value) {
        best_value = value;
        best = trial;
      }
    }
    assert(best.size() > 0);  // for small shares Z is nearly what it was
    move_to(best);
  }

  // Goes to the central path at `mu`; false when rounding prevents it.
  bool center(double mu) {
    mu_ = mu;
    constexpr int kMostMasterSteps = 200;
    double decrement = 1;
    for (int step = 0; step < kMostMasterSteps && decrement > 0.1; ++step) {
      if (!newton_step(decrement)) return false;
    }
    return decrement <= 0.1;
  }

  // Drops the cutting planes that have not mattered for a while. What the others prove remains true.
  void drop_idle() {
    constexpr double kNothing = 1e-2;  // relative to the largest multiplier
    constexpr int kPatience = 10;
    const double little = kNothing * multipliers_.maxCoeff();
    std::vector<Index> kept;
    for (Index k = 0; k < size(); ++k) {
      int& idle = idle_[k];
      idle = multipliers_(k) < little ? idle + 1 : 0;
      if (idle < kPatience) kept.push_back(k);
    }
    if (static_cast<Index>(kept.size()) == size()) return;
    offsets_ = Vector(offsets_(kept));
    slopes_ = Matrix(slopes_(kept, Eigen::all));
    std::erase_if(idle_, [](int idle) { return idle >= kPatience; });
    // A slope may be indefinite, so that Z need not be positive definite without it. It is if the others shrink.
    const Vector others = multipliers_(kept);
    constexpr double kLess = 0.98;
    for (double part = 1; move_to(part * others) == kOutside;) part *= kLess;
  }

  // mu Z^-1
  Matrix metric() const {
    const Matrix inverse = inverse_of_lower(lower_);
    return symmetrized(mu_ * transposed_product(inverse, inverse));
  }
  double lower_bound() const { return multipliers_.dot(offsets_); }  // the dual objective: alpha is always feasible
  // Number of barriers: the gap of a centred solution is mu times this.
  double barriers() const { return static_cast<double>(features_ + size() + 1); }
  Index size() const { return multipliers_.size(); }

 private:
  static constexpr double kOutside = -std::numeric_limits<double>::infinity();
  // Shares that a new multiplier takes from the others: 1/2, 1/4, ... The first number of them is always tried, more
  // only while none is feasible.
  static constexpr int kUsefulHalvings = 13, kMostHalvings = 1000;

  // Goes to other multipliers and returns the barrier function there, which Newton's method maximises; -infinity where
  // they are infeasible, and then nothing but the multipliers changes.
  double move_to(const Vector& multipliers) {
    multipliers_ = multipliers;
    const double rest = c_ - multipliers_.sum();
    if (!(multipliers_.minCoeff() > 0 && rest > 0)) return kOutside;
    const Vector combined = apply_transposed(slopes_, multipliers_);
    const Matrix slack =
        Matrix::Identity(features_, features_) - Eigen::Map<const Matrix>(combined.data(), features_, features_);
    const PositiveDefinite factor(slack);
    if (!factor.succeeded()) return kOutside;
    lower_ = factor.lower();
    return multipliers_.dot(offsets_) / mu_ + factor.log_determinant() + multipliers_.array().log().sum() +
           std::log(rest);
  }

  bool newton_step(double& decrement) {
    const Index count = size();
    Vector traces(count);
    const Matrix seen = transformed_slopes(traces);
    const double rest = c_ - multipliers_.sum();
    const Vector inverse = multipliers_.cwiseInverse();
    Vector gradient = offsets_ / mu_ - traces + inverse;
    gradient.array() -= 1 / rest;
    Matrix hessian = product_transposed(seen, seen);
    hessian.array() += 1 / (rest * rest);
    hessian.diagonal() += inverse.cwiseAbs2();
    // We scale by the multipliers, so that the diagonal is of order one whatever their sizes are.
    const Matrix scaled = multipliers_.asDiagonal() * hessian * multipliers_.asDiagonal();
    const PositiveDefinite factor(symmetrized(scaled));
    if (!factor.succeeded()) return false;
    const Vector scaled_gradient = multipliers_.cwiseProduct(gradient);
    const Vector direction = multipliers_.cwiseProduct(factor.solve(scaled_gradient));
    const double slope = std::max(0.0, direction.dot(gradient));
    decrement = std::sqrt(slope);
    const Vector before = multipliers_;
    const double value = move_to(before);
    // The barrier function is self-concordant: a step of 1 / (1 + decrement) stays inside and gains, a longer one may
    // gain more.
    const double safe = 1 / (1 + decrement);
    for (int k = 0; std::ldexp(1.0, -k) > safe; ++k) {
      const double step = std::ldexp(1.0, -k);
      if (move_to(before + step * direction) >= value + 0.1 * step * slope) return true;
    }
    for (int k = 0; k < kMostHalvings; ++k) {
      if (move_to(before + std::ldexp(safe, -k) * direction) > kOutside) return true;
    }
    move_to(before);
    return false;
  }

  // L^-1 S L^-T for each slope S, packed, with the Cholesky factor L of Z; `traces` gets their traces.
  Matrix transformed_slopes(Vector& traces) const {
    const Matrix inverse = inverse_of_lower(lower_);
    const Eigen::Map<const Matrix> slopes(slopes_.data(), size() * features_, features_);
    const Matrix half = product_transposed(slopes, inverse);  // S L^-T, one below the other
    Matrix packed(size(), packed_size(features_));
    for (Index k = 0; k < size(); ++k) {
      const Matrix whole = product(inverse, half.middleRows(k * features_, features_));
      traces(k) = whole.trace();
      pack_symmetric(features_, whole, packed.row(k).data());
    }
    return packed;
  }

  Index features_;
  double c_;
  double mu_ = 1;
  Vector multipliers_;  // alpha
  Vector offsets_;
  Matrix slopes_;          // one per row, d * d entries
  Matrix lower_;           // Cholesky factor of Z
  std::vector<int> idle_;  // of each cutting plane: for how many centres its multiplier has been small
};

}  // namespace bregmax::internal
