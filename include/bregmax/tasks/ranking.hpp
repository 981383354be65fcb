#pragma once

#include <span>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/search/top_k.hpp"
#include "bregmax/tasks/scores.hpp"

namespace bregmax {

// The functions below hold one block of queries in memory at a time, never all divergences at once, and use the
// OpenMP threads in force (see ThreadLimit); results are the same for every number of threads.

inline constexpr Index kPrecisionAt = 10;  // places, unless a caller wants others

// Means over the queries, NaN if none counts.
struct RankingSummary : RankingScores {
  Index queries = 0;          // in the means
  Index skipped_queries = 0;  // not in the means: no other row is of their class, or all other rows are
  bool stopped = false;       // by RunControl: the means cover only the rows that were reached
};

// Each row queries all OTHER rows (itself excluded by its row number, so its duplicates stay) by D(query, candidate);
// rows of its class are relevant. precision_at: >= 1; places beyond the last candidate count as irrelevant. Ties are
// scored in expectation (docs/mathematics.md, section 11).
RankingSummary evaluate_ranking(const Divergence& divergence, const MatrixView& rows, std::span<const int> classes,
                                Index precision_at = kPrecisionAt, const RunControl& control = {});

// For each query the `top` nearest rows of the pool by D(query, pool row), see top_k().
using RankedRow = Neighbour;
std::vector<std::vector<RankedRow>> rank(const Divergence& divergence, const MatrixView& queries,
                                         const MatrixView& pool, Index top = 0, const RunControl& control = {});

}  // namespace bregmax
