#pragma once

#include <memory>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// Divergences of one query are tied with the nearest of them where they exceed it by no more than
// absolute + relative (the nearest one + the median one). Taken from the nearest one on, this divides the references of
// a query into groups. docs/mathematics.md, section 11, says why.
struct TieTolerance {
  double relative = 0;  // for rounding; max-affine divergences have none
  double absolute = 0;  // the divergence's resolution
};
inline constexpr double kRoundingTies = 1e-12;

inline double farthest_tied(double nearest, double median, const TieTolerance& tolerance) {
  return nearest + tolerance.absolute + tolerance.relative * (nearest + median);
}

// References that no point can tell apart: for a max-affine divergence all those on one piece (D depends on the
// reference only through its piece), for others each on its own. A query is then measured against the groups, at most
// as many as pieces, however many references there are.
struct ReferenceGroups {
  std::vector<Index> group_of_row;
  std::unique_ptr<ReferenceSet> references;  // one per group; the divergence must outlive it
  TieTolerance tie_tolerance;                // of divergences from one query

  Index size() const { return references->size(); }
  std::vector<Index> sizes() const;  // rows of each group
};

ReferenceGroups group_references(const Divergence& divergence, const MatrixView& references);

}  // namespace bregmax::internal
