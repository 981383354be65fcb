#pragma once

#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

struct Neighbour {
  Index row;          // of the references
  double divergence;  // D(query, reference)
};

// For each query the k nearest references by D(query, reference): nearest first, equal ones by the lower row number.
// Equal means within the divergence's resolution of the nearest of them, whose divergence all of them are listed with
// (ties: docs/mathematics.md, section 11). k = 0, or more than there are: all of them. After a stop request, only the
// queries that were reached. Never holds all divergences at once; the number of threads does not change the result.
std::vector<std::vector<Neighbour>> top_k(const Divergence& divergence, const MatrixView& references,
                                          const MatrixView& queries, Index k, const RunControl& control = {});

}  // namespace bregmax
