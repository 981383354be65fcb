#pragma once

#include <functional>
#include <span>

#include "bregmax/search/top_k.hpp"

namespace bregmax::internal {

struct NearestOfQuery {
  Index query;
  std::span<const Neighbour> nearest;  // the k nearest references, or all; nearest first, then by the lower number
  double bound;                        // no divergence of the query is larger
};

// Calls use() once per query, from several threads. The queries have been checked, so that nothing here throws because
// of them. Returns the number of queries done, from the first on: all of them unless a stop was requested.
//
// Divergences are computed and looked at tile by tile, so that they never leave the second-level cache. They are the
// numbers of Divergence::matrix().
Index for_each_query(const ReferenceSet& references, const MatrixView& queries, Index k, const RunControl& control,
                     const std::function<void(const NearestOfQuery&)>& use);

// Blocks with fewer entries are left to one thread: below about a millisecond of work threads cost more than they save,
// and many times more where other programs keep the cores busy.
inline constexpr Index kEntriesForThreads = 100000;

// Rows of points to measure against `columns` references at a time: about 16 MB of divergences.
Index block_rows(Index columns);

// Calls work(first, end) for one range of the queries after another, reports progress and sees stop requests between
// them. Returns the number of queries done.
Index for_each_batch(Index queries, Index batch, const RunControl& control,
                     const std::function<void(Index, Index)>& work);

}  // namespace bregmax::internal
