#pragma once

#include <memory>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// Divergences of one query are tied where they differ by no more than this times (the nearer one + the median one).
// Max-affine divergences are tied where they are equal. docs/mathematics.md, section 11, says why.
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
  double tie_tolerance;                      // of divergences from one query

  Index size() const { return references->size(); }
  std::vector<Index> sizes() const;  // rows of each group
};

ReferenceGroups group_references(const Divergence& divergence, const MatrixView& references);

}  // namespace bregmax::internal
