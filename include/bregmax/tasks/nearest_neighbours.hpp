#pragma once

#include <span>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// Classification and regression by the k stored rows nearest to a query, by D(query, stored row).
//
// A query has k votes to give. Rows nearer than the k-th nearest get one vote each; ALL rows tied with the k-th
// (docs/mathematics.md, section 11) share the votes that are left equally, so that the order of the stored rows does
// not matter (max-affine divergences tie all rows of a piece).
//
// The class with the most votes wins. Equal votes: the smaller mean divergence of its voters; then the larger number of
// stored rows; then the lowest class number is `predicted`, but expected_accuracy() scores a fair draw instead, so that
// scores do not depend on how classes are numbered. Nor do results depend on the number of OpenMP threads.
// k: 1 .. number of stored rows.

struct Classification {
  std::vector<int> predicted;             // of each query
  std::vector<double> share;              // of the votes that went to `predicted`, 0..1
  std::vector<std::vector<int>> winners;  // the classes tied after all rules, ascending; nearly always one
};

Classification classify_nearest(const Divergence& divergence, const MatrixView& stored,
                                std::span<const int> stored_classes, const MatrixView& queries, Index k = 5);

// Accuracy where a tie that remains is decided by a fair draw: a query counts 1 / (number of its winners) if its class
// is among them.
double expected_accuracy(const Classification& classification, std::span<const int> actual);

// The mean of the stored targets, weighted by the votes above.
Vector regress_nearest(const Divergence& divergence, const MatrixView& stored, const VectorView& stored_targets,
                       const MatrixView& queries, Index k = 5);

}  // namespace bregmax
