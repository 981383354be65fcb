#pragma once

#include <vector>

#include "methods/large_margin.hpp"
#include "methods/regression_tree.hpp"

namespace bregmax::internal {

// Adds trees to a linear embedding so that the loss of LMNN falls. Rows come in the order of their classes.
class LargeMarginBooster {
 public:
  LargeMarginBooster(const Matrix& ordered_rows, const ClassOfRow& ordered_classes, const Matrix& linear,
                     int neighbours, double mu);

  // One more tree, of which the share `shrinkage` of the step is taken; false: none decreases the loss.
  bool add_tree(int depth, double shrinkage);

  double loss() const { return loss_value_; }
  const TreeEnsemble& trees() const { return trees_; }
  const Matrix& embedded() const { return embedded_; }

 private:
  void update_gradient();
  bool moves_to(const Matrix& moved, double most);

  const Matrix& rows_;
  LargeMarginLoss loss_;
  TreeGrower grower_;
  TreeEnsemble trees_;
  Matrix embedded_, gradient_;
  double loss_value_ = 0;
  double step_ = 0;  // of the last tree, before it was shrunk
};

}  // namespace bregmax::internal
