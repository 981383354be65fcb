#pragma once

#include <memory>
#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax::internal {

// References that no point can tell apart: for a max-affine divergence all those on one piece (D depends on the
// reference only through its piece), for others each on its own. A query is then measured against the groups, at most
// as many as pieces, however many references there are.
struct ReferenceGroups {
  std::vector<Index> group_of_row;
  std::unique_ptr<ReferenceSet> references;  // one per group; the divergence must outlive it
  double tie_tolerance;                      // of divergences from one query, see ties.hpp

  Index size() const { return references->size(); }
  std::vector<Index> sizes() const;  // rows of each group
};

ReferenceGroups group_references(const Divergence& divergence, const MatrixView& references);

}  // namespace bregmax::internal
