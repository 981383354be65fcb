#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "bregmax/divergence/tree_embedding.hpp"

namespace bregmax::internal {

// Grows regression trees on the same rows again and again: the order of the rows along each feature is found once.
class TreeGrower {
 public:
  // rows must outlive this.
  explicit TreeGrower(const Matrix& rows) : rows_(rows), order_(static_cast<std::size_t>(rows.cols())) {
    for (Index f = 0; f < rows.cols(); ++f) {
      auto& order = order_[f];
      order.resize(rows.rows());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {}, [&](int row) { return rows(row, f); });
    }
  }

  // Adds a tree to the ensemble that fits the targets (one vector per row) by least squares: each node splits where the
  // sum of squares falls the most, down to `depth` levels of splits and `smallest_leaf` rows. The value of a leaf is
  // the mean of its targets. fitted.row(i) becomes the value of the leaf of row i.
  void grow(const Matrix& targets, int depth, Index smallest_leaf, TreeEnsemble& trees, Matrix& fitted) const {
    fitted.resize(targets.rows(), targets.cols());
    Growth growth{targets, smallest_leaf, trees, fitted, {}};
    trees.roots.push_back(static_cast<int>(trees.nodes.size()));
    grow_node(order_, depth, growth);
    const Index first = trees.leaves.rows();
    trees.leaves.conservativeResize(first + static_cast<Index>(growth.leaves.size()), targets.cols());
    for (std::size_t l = 0; l < growth.leaves.size(); ++l) {
      trees.leaves.row(first + static_cast<Index>(l)) = growth.leaves[l];
    }
  }

 private:
  using Order = std::vector<std::vector<int>>;  // the rows of a node along each feature
  struct Split {
    int feature = -1;  // none
    double threshold = 0;
    double gain = 0;  // by how much the sum of squares falls
  };
  struct Growth {
    const Matrix& targets;
    Index smallest_leaf;
    TreeEnsemble& trees;
    Matrix& fitted;
    std::vector<Eigen::RowVectorXd> leaves;

    Eigen::RowVectorXd sum_of(const std::vector<int>& rows) const {
      Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(targets.cols());
      for (const int row : rows) sum += targets.row(row);
      return sum;
    }
  };

  // With S the sum of the targets of n rows, a split into parts gains |S1|^2 / n1 + |S2|^2 / n2 - |S|^2 / n.
  Split best_split(const Order& order, const Growth& growth) const {
    const auto count = static_cast<Index>(order.front().size());
    const Eigen::RowVectorXd sum = growth.sum_of(order.front());
    const double whole = sum.squaredNorm() / static_cast<double>(count);
    Split best;
    best.gain = 1e-12 * (whole + 1e-300);  // a smaller gain is rounding
    Eigen::RowVectorXd left(sum.size());
    for (Index f = 0; f < rows_.cols(); ++f) {
      const auto& along = order[f];
      left.setZero();
      for (Index k = 1; k < count; ++k) {
        const int row = along[k - 1], next = along[k];
        left += growth.targets.row(row);
        if (k < growth.smallest_leaf || count - k < growth.smallest_leaf || rows_(row, f) == rows_(next, f)) continue;
        const double gain = left.squaredNorm() / static_cast<double>(k) +
                            (sum - left).squaredNorm() / static_cast<double>(count - k) - whole;
        if (!(gain > best.gain)) continue;
        const double middle = rows_(row, f) + (rows_(next, f) - rows_(row, f)) / 2;
        best = {static_cast<int>(f), middle < rows_(next, f) ? middle : rows_(row, f), gain};
      }
    }
    return best;
  }

  void grow_node(Order order, int depth, Growth& growth) const {
    auto& nodes = growth.trees.nodes;
    const std::size_t number = nodes.size();
    nodes.emplace_back();
    const Split split = depth > 0 ? best_split(order, growth) : Split{};
    if (split.feature < 0) {
      const std::vector<int>& rows = order.front();
      nodes[number].left = static_cast<int>(growth.trees.leaves.rows()) + static_cast<int>(growth.leaves.size());
      growth.leaves.emplace_back(growth.sum_of(rows) / static_cast<double>(rows.size()));
      for (const int row : rows) growth.fitted.row(row) = growth.leaves.back();
      return;
    }
    Order right(order.size());
    for (std::size_t f = 0; f < order.size(); ++f) {
      const auto goes_right = [&](int row) { return !(rows_(row, split.feature) <= split.threshold); };
      std::ranges::copy_if(order[f], std::back_inserter(right[f]), goes_right);
      std::erase_if(order[f], goes_right);
    }
    nodes[number].feature = split.feature;
    nodes[number].threshold = split.threshold;
    nodes[number].left = static_cast<int>(nodes.size());
    grow_node(std::move(order), depth - 1, growth);
    nodes[number].right = static_cast<int>(nodes.size());
    grow_node(std::move(right), depth - 1, growth);
  }

  const Matrix& rows_;
  Order order_;  // of all rows
};

}  // namespace bregmax::internal
