#pragma once

#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

// Turns pieces that satisfy the convexity constraints nearly into pieces that satisfy them, near to the given ones.
//
// With the slopes fixed, the constraints are about differences of the offsets: raising every piece to what the others
// reach at its rows, again and again, ends in the least offsets that satisfy them, unless along some cycle of pieces
// what they exceed each other by is positive. A part of a strictly convex model, the tangents of the squared distance,
// makes cycles negative: as little of it as is enough.
//
// Rows are looked at in blocks: no n x K array is made. With fewer pieces than rows, what counts of a pair of pieces is
// the one row at which the second exceeds the first the most: raising is then the longest way through a graph of K
// nodes, and needs one look at the rows.
class ConvexRepair {
 public:
  explicit ConvexRepair(const LearningProblem& problem);

  // The largest <a_k, x_i> + b_k - phi(x_i), at least 0, and the largest divergence.
  struct Violation {
    double largest = 0, scale = 0;
    bool feasible() const { return is_feasible(largest, scale); }
  };
  Violation violation(const AffinePieces& pieces) const;

  // The given pieces with `part` (0 .. 1) of the strictly convex ones in them, raised; false: raising does not end.
  bool repair(double part, AffinePieces& pieces) const;
  // Whether each row's own piece is ahead of the others there by more than rounding. Otherwise rounding decides which
  // piece a row takes when the model is applied. Pieces that are copies of each other, or of rows at one place, do not
  // count.
  bool own_pieces_lead(const AffinePieces& pieces) const;
  // With a piece a row there is always a way out: a row takes over the piece that is the largest there.
  void take_over(AffinePieces& pieces) const;

 private:
  struct Sweep {
    Vector raise;  // of each piece: what it lacks at the worst of its rows
    double scale = 0;
  };
  Sweep sweep(const AffinePieces& pieces) const;
  bool raise_by_sweeps(AffinePieces& pieces) const;
  bool raise_by_borders(AffinePieces& pieces) const;

  const LearningProblem& problem_;
  AffinePieces interior_;  // with a Lipschitz constant of 1
};

}  // namespace bregmax::internal
