#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "bregmax/core/matrix.hpp"
#include "bregmax/core/proof.hpp"
#include "bregmax/core/status.hpp"
#include "bregmax/core/supervision.hpp"

namespace bregmax {

// The convex problem behind every fit. Piece k is the affine function <a_k, x> + b_k, row i lies on piece p_i, and
//
//   phi(x_i) = <a_{p_i}, x_i> + b_{p_i},    D(i, j) = phi(x_i) - <a_{p_j}, x_i> - b_{p_j}.
//
//   minimise    sum of the losses of the supervision (see core/supervision.hpp) + lambda L
//   subject to  phi(x_i) >= <a_k, x_i> + b_k   for every row i and piece k      (convexity)
//               ||a_k||_1 <= L                 for every piece k
//               L <= lipschitz_bound
//
// Comparisons and pairs make it a linear program, targets a quadratic one. The zero model is always feasible.
// Shifting the rows changes nothing.
struct LearningProblem {
  Matrix points;              // n x d, finite
  std::vector<int> piece_of;  // p_i of each row, 0 .. pieces - 1; every piece has at least one row
  int pieces = 0;             // K
  // The central row of each piece, if every row lies on the piece whose centre is nearest; empty: not known. If given,
  // the tangents of the squared distance at the centres satisfy the constraints and help a solver to a feasible model.
  std::vector<Index> centres = {};
  Supervision supervision;                                           // at least one item
  double lambda = 0;                                                 // >= 0, finite
  double lipschitz_bound = std::numeric_limits<double>::infinity();  // > 0
};

// Throws Error that names the first field that breaks the rules above.
void validate(const LearningProblem& problem);

// Piece k is <slopes_k, x> + offsets_k.
struct AffinePieces {
  Matrix slopes;   // K x d
  Vector offsets;  // K
};
double lipschitz_of(const AffinePieces& pieces);  // max_k ||a_k||_1

// One dual variable >= 0, of the constraint phi(x_row) >= <a_piece, x_row> + b_piece.
struct ConvexityMultiplier {
  Index row, piece;
  double value;
};

// The dual variables (multipliers) that prove a lower bound: see optimize/certificate.hpp. Those of convexity are a
// matrix or, where that would be large, a list of those that are not zero; if both are given, their sum counts.
struct DualSolution {
  Matrix convexity;  // n x K, >= 0: (i, k) belongs to the constraint D(i, k) >= 0
  std::vector<ConvexityMultiplier> entries = {};
  Vector items;           // hinge items: the slope of the loss, 0 .. weight. Targets: 2 weight (D - value)
  Vector items_low = {};  // empty, or the low parts of double-double numbers whose high parts are `items`

  // Instead of all these, for LabelPairs with one piece per row: fills rows begin .. end - 1 of an n x K matrix >= 0,
  // whose entry (i, k) is the dual variable of D(i, k) >= 0 plus, for a dissimilar pair, the slope of its loss. The
  // slope gets as much of the sum as its weight allows. The slopes of similar pairs are their weights.
  using Rows = std::function<void(Index begin, Index end, MatrixSpan sums)>;
  Rows by_row = {};
};

// Which fields mean something. Under every status all numbers describe the model and the dual variables that are
// returned, and the lower bound is proved.
//
//   status            relative_gap               what else to know
//   kOptimal          at most the tolerance      the model satisfies every constraint
//   kEarlyStopped     of the model that scored   other models of the run had lower objectives
//                     best on held-out data
//   kIterationLimit,  above the tolerance, or    solve_admm: the best model that satisfies every constraint;
//   kTimeLimit,       negative                   solve_interior_point: the last model, which may be worse than the zero
//   kStopped,                                    model, and whose convexity_violation may be large; an objective below
//   kNumericalError                              the bound is that of a model that is not convex
//
// primal_residual and dual_residual are those of the last iterate, relative; kConverged is not used.
struct SolveReport : Proof {
  Status status = Status::kNumericalError;
  int iterations = 0;
  double seconds = 0;
  double primal_residual = 0;
  double dual_residual = 0;
};

struct Solution : AffinePieces {
  const AffinePieces& pieces() const { return *this; }
  AffinePieces& pieces() { return *this; }

  DualSolution dual;
  SolveReport report;
};

}  // namespace bregmax
