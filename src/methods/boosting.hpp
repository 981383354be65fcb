#pragma once

#include <utility>

#include "methods/large_margin.hpp"
#include "methods/regression_tree.hpp"

namespace bregmax::internal {

// Adds trees to a linear embedding so that the loss of LMNN falls. Rows come in the order of their classes.
class LargeMarginBooster {
 public:
  LargeMarginBooster(const Matrix& ordered_rows, const ClassOfRow& ordered_classes, const Matrix& linear,
                     int neighbours, double mu)
      : embedded_(ordered_rows * linear.transpose()),
        loss_(ordered_classes, nearest_of_class(embedded_, ordered_classes, neighbours), mu),
        grower_(ordered_rows) {
    trees_.leaves.resize(0, linear.rows());
    loss_value_ = measure(embedded_, gradient_);
  }

  // One more tree, of which the share `shrinkage` of the step is taken; false: none decreases the loss. Along the tree
  // the loss falls at the rate -<gradient, fitted> = |fitted|^2 (a leaf holds the mean of its targets).
  bool add_tree(int depth, double shrinkage) {
    constexpr double kSufficient = 1e-2;
    constexpr int kSmallestLeaf = 2, kStepTrials = 30;
    TreeEnsemble grown = trees_;
    Matrix fitted;
    grower_.grow(-gradient_, depth, kSmallestLeaf, grown, fitted);
    const double rate = fitted.squaredNorm();
    if (!(rate > 0)) return false;
    // The first step would bring a linear loss to 0; later ones try twice the last.
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

  // Goes there if the loss is at most this.
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

}  // namespace bregmax::internal
