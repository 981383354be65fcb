#pragma once

#include <memory>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// Divergences of one query are tied where they differ by no more than this times (the nearer one + the median one).
// Those that are equal on paper (of duplicates, of points on a grid) are computed with rounding that depends on where
// the row stands in its file; compared exactly, they would let the row order decide. The rounding is relative to the
// generator's values: of those the median divergence tells the size, which the largest, perhaps of an outlier, does
// not. Max-affine divergences need none of this: they are the same doubles wherever a row stands.
inline constexpr double kTieTolerance = 1e-12;

inline double farthest_tied(double nearest, double median, double tolerance) {
  return nearest + tolerance * (nearest + median);
}

// References that no point can tell apart: for a max-affine divergence all those on one piece (D depends on the
// reference only through its piece), for others each on its own. A query is then measured against the groups, at most
// as many as pieces, however many references there are.
struct ReferenceGroups {
  std::vector<Index> group_of_row;
  std::unique_ptr<ReferenceSet> references;  // one per group; the divergence must outlive it
  double tie_tolerance;                      // of divergences from one query, see kTieTolerance

  Index size() const { return references->size(); }
};

ReferenceGroups group_references(const Divergence& divergence, const MatrixView& references);

}  // namespace bregmax::internal
