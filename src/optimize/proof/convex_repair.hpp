#pragma once

#include "optimize/proof/termination.hpp"

namespace bregmax::internal {

// Turns pieces that nearly satisfy the convexity constraints into pieces that satisfy them.
//
// Slopes stay. Each piece is raised, repeatedly, until it is the largest at its rows. This ends unless the violations
// along some cycle of pieces have a positive sum; mixing in a strictly convex model, the tangents of the squared
// distance, makes such sums negative. With fewer pieces than rows, the raises are computed as longest paths in a graph
// of the pieces.
class ConvexRepair {
 public:
  explicit ConvexRepair(const LearningProblem& problem);

  // The largest <a_k, x_i> + b_k - phi(x_i), at least 0, and the largest divergence.
  struct Violation {
    double largest = 0, scale = 0;
    bool feasible() const { return is_feasible(largest, scale); }
  };
  Violation violation(const AffinePieces& pieces) const;

  // Mixes in `part` (0 .. 1) of the strictly convex pieces and raises; false: raising does not end.
  bool repair(double part, AffinePieces& pieces) const;
  // Whether each row's own piece is larger there than all others by more than rounding. Otherwise rounding decides
  // which piece a row uses when the model is applied. Pieces that are equal, or have equal rows, do not count.
  bool own_pieces_lead(const AffinePieces& pieces) const;
  // With one piece per row: each row takes a copy of the piece that is the largest there.
  void take_over(AffinePieces& pieces) const;

 private:
  struct Sweep {
    Vector raise;  // per piece: the largest violation at its rows
    double scale = 0;
  };
  Sweep sweep(const AffinePieces& pieces) const;
  bool raise_by_sweeps(AffinePieces& pieces) const;
  bool raise_by_borders(AffinePieces& pieces) const;

  const LearningProblem& problem_;
  AffinePieces interior_;  // with a Lipschitz constant of 1
};

}  // namespace bregmax::internal
