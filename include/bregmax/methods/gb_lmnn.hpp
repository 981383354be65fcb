#pragma once

#include <cstdint>

#include "bregmax/divergence/tree_embedding.hpp"
#include "bregmax/methods/learned.hpp"

namespace bregmax {

struct GbLmnnOptions {
  int neighbours = 3;      // target neighbours of a row, >= 1
  double push = 0.5;       // mu: the weight of impostors against that of targets, 0 < mu < 1
  int trees = 100;         // at most, >= 0
  int depth = 4;           // levels of splits of a tree, >= 1
  double shrinkage = 0.3;  // share of the step of a tree that is taken, 0 < shrinkage <= 1
  double held_out = 0.2;   // share of the rows that decide how many trees there are, 0 < held_out <= 0.5
  std::uint64_t seed = 0;  // of the choice of these rows
  MethodLimits limits = {.tolerance = 1e-3, .max_iterations = 5000};  // tolerance: of the linear start
};

struct GbLmnnResult {
  Learned learned;  // a TreeEmbedding
  int trees = 0;    // that were kept
};

// Gradient boosted large margin nearest neighbours (Kedem, Tyree, Weinberger, Sha & Lanckriet 2012). f(x) = L x +
// trees, where L is that of learn_lmnn; each tree is a regression tree of limited depth, fitted to minus the gradient
// of the loss of LMNN with respect to the embedded rows. Of the steps 1, 1/2, 1/4, ... of the best-fitting one the
// longest is found that decreases the loss, and the share `shrinkage` of it is taken (all of it where that share
// decreases nothing). Target neighbours are those of the linear start, and stay.
//
// Some rows of each class are held out, and f is learned from the others; the number of trees that leaves the fewest of
// the held-out rows to the wrong class by 3 nearest neighbours (equal: the lower loss of the held-out rows) is kept,
// and f learned again from all rows with as many. Boosting ends early when 20 trees bring nothing better.
//
// objective: the loss of all rows. stationarity: the share of the trees that are asked for and not grown, 0 at the end.
GbLmnnResult learn_gb_lmnn(const MatrixView& rows, const ClassOfRow& class_of_row, const GbLmnnOptions& options = {},
                           const RunControl& control = {});

}  // namespace bregmax
