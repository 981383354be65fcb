#pragma once

#include "bregmax/methods/learned.hpp"

namespace bregmax {

// Metric learning to rank with the loss of the area under the ROC curve (McFee and Lanckriet 2010). Each row queries
// all others; rows of its class are relevant, and the loss of a ranking is the fraction of pairs (relevant, irrelevant)
// in the wrong order:
//
//   minimise  tr(W) + C (1 / queries) sum_q max_y [loss(y) - <W, psi(q, y*) - psi(q, y)>],   W positive semidefinite
//
// over rankings y, with psi the partial order feature of the paper. By one-slack cutting planes: the ranking that
// violates most is found exactly by sorting, and the master problem, a semidefinite program with one constraint a
// cutting plane, is solved in its dual by a barrier method. An iteration is one cutting plane.
//
// The stationarity is the duality gap over the objective of W = 0: every dual solution of the master problem bounds the
// full problem from below, and the objective of W is exact.
struct MlrAucOptions {
  double c = 1000;  // C > 0
  MethodLimits limits{1e-3, 2000, 0};
};

Learned learn_mlr_auc(const MatrixView& rows, const ClassOfRow& class_of_row, const MlrAucOptions& options = {},
                      const RunControl& control = {});

}  // namespace bregmax
