#include "search/tiled_search.hpp"

#include <omp.h>

#include <algorithm>

#include "core/progress.hpp"
#include "divergence/point_scores.hpp"

namespace bregmax::internal {
namespace {

// The tiles of SmoothReferenceSet, so that the numbers are those of Divergence::matrix().
constexpr Index kTileQueries = 64, kTileReferences = 512;

bool nearer(const Neighbour& a, const Neighbour& b) {
  return a.divergence != b.divergence ? a.divergence < b.divergence : a.row < b.row;
}

// The nearest references of one query so far; scores come in the order of the reference numbers.
class NearestSoFar {
 public:
  // Divergences are scores plus `point_part`, see PointScores.
  void begin(Index kept, double point_part) {
    kept_ = static_cast<std::size_t>(kept);
    point_part_ = point_part;
    nearest_.clear();
  }

  // The scores of references first, first + 1, ... Soon hardly any is kept, so that we look at the smallest of a chunk
  // first. A later reference with an equal divergence is never kept.
  void look_at(Index first, std::span<const double> scores) {
    constexpr std::size_t kChunk = 64;
    for (std::size_t begin = 0; begin < scores.size(); begin += kChunk) {
      const std::span<const double> chunk = scores.subspan(begin, std::min(kChunk, scores.size() - begin));
      const Eigen::Map<const Eigen::ArrayXd> entries(chunk.data(), std::ssize(chunk));
      if (full() && divergence_of(entries.minCoeff()) >= nearest_.front().divergence) continue;
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        insert({first + static_cast<Index>(begin + i), divergence_of(chunk[i])});
      }
    }
  }

  std::span<const Neighbour> sorted() {
    std::sort(nearest_.begin(), nearest_.end(), nearer);
    return nearest_;
  }

 private:
  bool full() const { return nearest_.size() == kept_; }
  double divergence_of(double score) const { return PointScores::divergence_of(score, point_part_); }

  void insert(const Neighbour& candidate) {
    if (!full()) {
      nearest_.push_back(candidate);
      if (full()) std::make_heap(nearest_.begin(), nearest_.end(), nearer);
    } else if (candidate.divergence < nearest_.front().divergence) {
      std::pop_heap(nearest_.begin(), nearest_.end(), nearer);
      nearest_.back() = candidate;
      std::push_heap(nearest_.begin(), nearest_.end(), nearer);
    }
  }

  std::size_t kept_ = 0;
  double point_part_ = 0;
  std::vector<Neighbour> nearest_;  // a heap once it is full: the farthest in front
};

void search_tiles(const PointScores& scores, Index references, Index kept, Matrix& tile,
                  std::span<NearestSoFar> nearest_of) {
  const Index queries = std::ssize(nearest_of);
  for (Index q = 0; q < queries; ++q) nearest_of[q].begin(kept, scores.point_part(q));
  for (Index first = 0; first < references; first += kTileReferences) {
    const Index count = std::min(kTileReferences, references - first);
    scores.scores(first, tile.topLeftCorner(queries, count));
    for (Index q = 0; q < queries; ++q) nearest_of[q].look_at(first, {tile.row(q).data(), tile.row(q).data() + count});
  }
}

// Queries to search at a time. Sets that do not compute scores hold all divergences of these queries.
Index tile_queries(const ReferenceSet& references) {
  const bool scoring = dynamic_cast<const ScoringReferenceSet*>(&references) != nullptr;
  return scoring ? kTileQueries : std::min(kTileQueries, block_rows(references.size()));
}

}  // namespace

Index block_rows(Index columns) {
  constexpr Index kBlockEntries = Index{1} << 21;
  return std::clamp<Index>(kBlockEntries / std::max<Index>(columns, 1), 1, 4096);
}

Index for_each_batch(Index queries, Index batch, const RunControl& control,
                     const std::function<void(Index, Index)>& work) {
  const Stopwatch watch;
  Index done = 0;
  while (done < queries && !control.stop_requested()) {
    const Index end = std::min(queries, done + batch);
    work(done, end);
    done = end;
    control.report(share_done("rank", done, queries, watch));
  }
  return done;
}

Index for_each_query(const ReferenceSet& references, const MatrixView& queries, Index k, const RunControl& control,
                     const std::function<void(const NearestOfQuery&)>& use) {
  const Index kept = std::min(k, references.size()), block = tile_queries(references);
  // Enough blocks at a time for all threads, and for BLAS.
  constexpr Index kBatchEntries = Index{1} << 24;
  const Index blocks = std::max<Index>(Index{4} * omp_get_max_threads(), kBatchEntries / (block * references.size()));
  return for_each_batch(queries.rows(), blocks * block, control, [&](Index begin, Index end) {
#pragma omp parallel if ((end - begin) * references.size() > kEntriesForThreads)
    {
      Matrix tile(block, std::min(kTileReferences, references.size()));
      std::vector<NearestSoFar> nearest_of(block);
#pragma omp for schedule(dynamic, 1)
      for (Index first = begin; first < end; first += block) {
        const Index size = std::min(block, end - first);
        const PointScores scores = scores_of(references, queries.middleRows(first, size));
        search_tiles(scores, references.size(), kept, tile, std::span(nearest_of).first(size));
        for (Index q = 0; q < size; ++q) {
          use({first + q, nearest_of[q].sorted(), scores.divergence(q, scores.bound(q))});
        }
      }
    }
  });
}

}  // namespace bregmax::internal
