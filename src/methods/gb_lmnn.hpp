#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "bregmax/methods/learned.hpp"
#include "core/products.hpp"
#include "methods/large_margin.hpp"
#include "methods/regression_tree.hpp"

namespace bregmax::internal {

// Adds trees to a linear embedding so that the loss of LMNN falls. Rows come in the order of their classes.
class LargeMarginBooster {
 public:
  LargeMarginBooster(const Matrix& ordered_rows, const ClassOfRow& ordered_classes, const Matrix& linear,
                     int neighbours, double mu)
      : embedded_(product_transposed(ordered_rows, linear)),
        loss_(ordered_classes, nearest_of_class(embedded_, ordered_classes, neighbours), mu),
        grower_(ordered_rows) {
    trees_.leaves.resize(0, linear.rows());
    loss_value_ = measure(embedded_, gradient_);
  }

  // Adds a tree with the share `shrinkage` of its step; false: no step decreases the loss. Along the tree the loss
  // falls at the rate -<gradient, fitted> = |fitted|^2 (a leaf holds the mean of its targets).
  bool add_tree(int depth, double shrinkage) {
    constexpr double kSufficient = 1e-2;
    constexpr int kSmallestLeaf = 2, kStepTrials = 30;
    TreeEnsemble grown = trees_;
    Matrix fitted;
    grower_.grow(-gradient_, depth, kSmallestLeaf, grown, fitted);
    const double rate = fitted.squaredNorm();
    if (!(rate > 0)) return false;
    // The first trial would bring a linear loss to 0; later trees begin with twice the last step.
    double step = step_ > 0 ? 2 * step_ : loss_value_ / rate;
    const Matrix before = embedded_;
    const double loss_before = loss_value_;
    for (int trial = 0; trial < kStepTrials; ++trial, step /= 2) {
      if (!moves_to(before + step * fitted, loss_before - kSufficient * step * rate)) continue;
      step_ = step;
      // The loss is not convex in the embedding: a part of a step that decreases it need not do so.
      const double part = shrinkage * step;
      const bool shrunk = shrinkage < 1 && moves_to(before + part * fitted, loss_before - kSufficient * part * rate);
      grown.leaves.bottomRows(grown.leaves.rows() - trees_.leaves.rows()) *= shrunk ? part : step;
      trees_ = std::move(grown);
      return true;
    }
    return false;
  }

  double loss() const { return loss_value_; }
  const TreeEnsemble& trees() const { return trees_; }
  const Matrix& embedded() const { return embedded_; }

 private:
  double measure(const Matrix& embedded, Matrix& gradient) {
    return loss_.evaluate(embedded, loss_.find_impostors(embedded, 0), 0, {}, gradient);
  }

  // Moves the embedding there if its loss is at most `most`.
  bool moves_to(const Matrix& moved, double most) {
    Matrix gradient;
    const double value = measure(moved, gradient);
    if (!(value <= most)) return false;
    embedded_ = moved;
    gradient_.swap(gradient);
    loss_value_ = value;
    return true;
  }

  Matrix embedded_, gradient_;
  LargeMarginLoss loss_;
  TreeGrower grower_;
  TreeEnsemble trees_;
  double loss_value_ = 0;
  double step_ = 0;  // of the last tree, before it was shrunk
};

// The class of most of the `voters` nearest rows. Equal votes: the class that first had as many, counted from the
// nearest row on.
inline int voted_class(const Vector& distances, const ClassOfRow& classes, Index voters) {
  std::vector<Index> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min(voters, distances.size());
  std::partial_sort(order.begin(), end, order.end(),
                    [&](Index a, Index b) { return std::pair(distances(a), a) < std::pair(distances(b), b); });
  std::map<int, int> votes;
  int winner = classes[order.front()];
  for (auto voter = order.begin(); voter != end; ++voter) {
    const int voted = classes[*voter];
    if (++votes[voted] > votes[winner]) winner = voted;
  }
  return winner;
}

// How rows that were held out fare among the rows that were learned from, by the squared Euclidean distance of embedded
// rows.
class HeldOutRows {
 public:
  struct Score {
    Index wrong = 0;  // by 3 nearest neighbours
    double loss = 0;  // of LMNN, with targets and impostors among the rows that were learned from
    auto operator<=>(const Score&) const = default;
  };

  // The targets of the held-out rows are their nearest of the class in this embedding.
  HeldOutRows(const Matrix& embedded, const ClassOfRow& classes, const Matrix& held_out_embedded,
              const ClassOfRow& held_out_classes, int neighbours, double mu)
      : classes_(classes), held_out_classes_(held_out_classes), mu_(mu), targets_(held_out_classes.size()) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Vector distances = distances_from(held_out_embedded, i, embedded);
      auto& targets = targets_[i];
      for (std::size_t j = 0; j < classes.size(); ++j) {
        if (classes[j] == held_out_classes[i]) targets.push_back(static_cast<Index>(j));
      }
      std::ranges::stable_sort(targets, {}, [&](Index j) { return distances(j); });
      targets.resize(std::min(targets.size(), static_cast<std::size_t>(neighbours)));
    }
  }

  Score score(const Matrix& embedded, const Matrix& held_out_embedded) const {
    constexpr Index kVoters = 3;
    Score score;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Vector distances = distances_from(held_out_embedded, i, embedded);
      if (voted_class(distances, classes_, kVoters) != held_out_classes_[i]) ++score.wrong;
      for (const Index target : targets_[i]) {
        score.loss += (1 - mu_) * distances(target);
        for (std::size_t l = 0; l < classes_.size(); ++l) {
          if (classes_[l] == held_out_classes_[i]) continue;
          score.loss += mu_ * std::max(0.0, 1 + distances(target) - distances(static_cast<Index>(l)));
        }
      }
    }
    return score;
  }

 private:
  static Vector distances_from(const Matrix& rows, std::size_t row, const Matrix& others) {
    return (others.rowwise() - rows.row(static_cast<Index>(row))).rowwise().squaredNorm();
  }

  const ClassOfRow& classes_;
  const ClassOfRow& held_out_classes_;
  double mu_;
  std::vector<std::vector<Index>> targets_;
};

}  // namespace bregmax::internal
