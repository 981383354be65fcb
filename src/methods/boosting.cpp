#include "methods/boosting.hpp"

#include <utility>

namespace bregmax::internal {
namespace {

constexpr int kSmallestLeaf = 2;
constexpr int kStepTrials = 30;

}  // namespace

LargeMarginBooster::LargeMarginBooster(const Matrix& ordered_rows, const ClassOfRow& ordered_classes,
                                       const Matrix& linear, int neighbours, double mu)
    : rows_(ordered_rows),
      loss_(ordered_classes, nearest_of_class(ordered_rows * linear.transpose(), ordered_classes, neighbours), mu),
      grower_(ordered_rows),
      embedded_(ordered_rows * linear.transpose()) {
  trees_.leaves.resize(0, linear.rows());
  update_gradient();
}

void LargeMarginBooster::update_gradient() {
  loss_value_ = loss_.evaluate(embedded_, loss_.find_impostors(embedded_, 0), 0, {}, gradient_);
}

// Goes there if the loss is at most this.
bool LargeMarginBooster::moves_to(const Matrix& moved, double most) {
  Matrix gradient;
  const double value = loss_.evaluate(moved, loss_.find_impostors(moved, 0), 0, {}, gradient);
  if (!(value <= most)) return false;
  embedded_ = moved;
  gradient_.swap(gradient);
  loss_value_ = value;
  return true;
}

// Along the tree the loss falls at the rate -<gradient, fitted> = |fitted|^2 (a leaf holds the mean of its targets).
bool LargeMarginBooster::add_tree(int depth, double shrinkage) {
  constexpr double kSufficient = 1e-2;
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

}  // namespace bregmax::internal
