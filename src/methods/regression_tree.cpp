#include "methods/regression_tree.hpp"

#include <algorithm>
#include <numeric>

namespace bregmax::internal {

struct TreeGrower::Split {
  int feature = -1;  // none
  double threshold = 0;
  double gain = 0;  // by how much the sum of squares falls
};

struct TreeGrower::Growth {
  const Matrix& targets;
  Index smallest_leaf;
  TreeEnsemble& trees;
  std::vector<Vector>& leaves;
  Matrix& fitted;
  Index first_leaf;
};

TreeGrower::TreeGrower(const Matrix& rows) : rows_(rows), order_(static_cast<std::size_t>(rows.cols())) {
  for (Index f = 0; f < rows.cols(); ++f) {
    auto& order = order_[static_cast<std::size_t>(f)];
    order.resize(static_cast<std::size_t>(rows.rows()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int row) { return rows(row, f); });
  }
}

// With S the sum of the targets of n rows, a split into parts gains |S1|^2 / n1 + |S2|^2 / n2 - |S|^2 / n.
TreeGrower::Split TreeGrower::best_split(const std::vector<std::vector<int>>& order, const Growth& growth) const {
  const auto count = static_cast<Index>(order.front().size());
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(growth.targets.cols());
  for (const int row : order.front()) sum += growth.targets.row(row);
  const double whole = sum.squaredNorm() / static_cast<double>(count);
  Split best;
  // What rounding leaves of a gain of 0 is not one.
  best.gain = 1e-12 * (whole + 1e-300);
  Eigen::RowVectorXd left(sum.size());
  for (Index f = 0; f < rows_.cols(); ++f) {
    const auto& along = order[static_cast<std::size_t>(f)];
    left.setZero();
    for (Index k = 1; k < count; ++k) {
      const int row = along[static_cast<std::size_t>(k - 1)], next = along[static_cast<std::size_t>(k)];
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

void TreeGrower::grow_node(std::vector<std::vector<int>> order, int depth, Growth& growth) const {
  auto& nodes = growth.trees.nodes;
  const std::size_t number = nodes.size();
  nodes.emplace_back();
  const Split split = depth > 0 ? best_split(order, growth) : Split{};
  if (split.feature < 0) {
    Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(growth.targets.cols());
    for (const int row : order.front()) mean += growth.targets.row(row);
    mean /= static_cast<double>(order.front().size());
    for (const int row : order.front()) growth.fitted.row(row) = mean;
    nodes[number].left = static_cast<int>(growth.first_leaf) + static_cast<int>(growth.leaves.size());
    growth.leaves.emplace_back(mean.transpose());
    return;
  }
  std::vector<std::vector<int>> right(order.size());
  for (std::size_t f = 0; f < order.size(); ++f) {
    const auto goes_left = [&](int row) { return rows_(row, split.feature) <= split.threshold; };
    std::ranges::copy_if(order[f], std::back_inserter(right[f]), [&](int row) { return !goes_left(row); });
    std::erase_if(order[f], [&](int row) { return !goes_left(row); });
  }
  nodes[number].feature = split.feature;
  nodes[number].threshold = split.threshold;
  nodes[number].left = static_cast<int>(nodes.size());
  grow_node(std::move(order), depth - 1, growth);
  nodes[number].right = static_cast<int>(nodes.size());
  grow_node(std::move(right), depth - 1, growth);
}

void TreeGrower::grow(const Matrix& targets, int depth, Index smallest_leaf, TreeEnsemble& trees,
                      Matrix& fitted) const {
  std::vector<Vector> leaves;
  fitted.resize(targets.rows(), targets.cols());
  Growth growth{targets, smallest_leaf, trees, leaves, fitted, trees.leaves.rows()};
  trees.roots.push_back(static_cast<int>(trees.nodes.size()));
  grow_node(order_, depth, growth);
  trees.leaves.conservativeResize(growth.first_leaf + static_cast<Index>(leaves.size()), targets.cols());
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    trees.leaves.row(growth.first_leaf + static_cast<Index>(l)) = leaves[l].transpose();
  }
}

}  // namespace bregmax::internal
