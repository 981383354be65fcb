#pragma once

#include <span>

#include "optimize/gradient/row_pass.hpp"

namespace bregmax::internal {

// The loss of labelled rows. With p_ij the softmax over j != i of -D(i, j), row i of a class with n_i other rows costs
//   (1 - neighbour_share) (-1/n_i sum_{j of the class} log p_ij) + neighbour_share (-log sum_{j of the class} p_ij),
// which is supervised contrastive learning for share 0, and neighbourhood component analysis for 1: there one near row
// of the class is enough, as for k nearest neighbours. The loss is the weighted mean over the rows that have others of
// their class.
template <class Real>
class LabelLoss {
 public:
  LabelLoss(Index most_rows, Index dimension, double neighbour_share)
      : share_(static_cast<Real>(neighbour_share)),
        logits_(most_rows, most_rows),
        same_(most_rows),
        parts_(most_rows),
        column_sums_(most_rows),
        dimension_(dimension) {}

  // The rows of the pass, after forward(), come in the order of their classes. Writes the derivatives into the pass.
  double evaluate(RowPass<Real>& pass, std::span<const int> classes, std::span<const Real> weights);

 private:
  double row_loss(Index row, Index begin, Index end, Index rows, Real weight);
  void write_derivatives(RowPass<Real>& pass);

  Real share_;
  MatrixOf<Real> logits_;  // -D(i, j) + phi(i); then the derivatives of the loss by D(i, j)
  VectorOf<Real> same_, parts_, column_sums_;
  Index dimension_;
};

}  // namespace bregmax::internal
