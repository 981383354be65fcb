#pragma once

#include <vector>

#include "bregmax/divergence/tree_embedding.hpp"

namespace bregmax::internal {

// Grows regression trees on the same rows again and again: the order of the rows along each feature is found once.
class TreeGrower {
 public:
  // rows must outlive this.
  explicit TreeGrower(const Matrix& rows);

  // Adds a tree to the ensemble that fits the targets (one vector a row) by least squares: each node splits where the
  // sum of squares falls the most, down to `depth` levels of splits and `smallest_leaf` rows. The value of a leaf is
  // the mean of its targets. fitted.row(i) becomes the value of the leaf of row i.
  void grow(const Matrix& targets, int depth, Index smallest_leaf, TreeEnsemble& trees, Matrix& fitted) const;

 private:
  struct Split;
  struct Growth;
  void grow_node(std::vector<std::vector<int>> order, int depth, Growth& growth) const;
  Split best_split(const std::vector<std::vector<int>>& order, const Growth& growth) const;

  const Matrix& rows_;
  std::vector<std::vector<int>> order_;  // of all rows along each feature
};

}  // namespace bregmax::internal
