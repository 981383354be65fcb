#include "bregmax/tasks/ranking.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/checks.hpp"
#include "search/tiled_search.hpp"
#include "tasks/group_classes.hpp"
#include "tasks/tied_ranking.hpp"

namespace bregmax {
namespace {

// The mean over the queries that count. Summed in ascending order, so that the order of the queries does not matter.
double mean_of(std::span<const RankingScores> scores, double RankingScores::*score) {
  std::vector<double> values;
  for (const RankingScores& each : scores) {
    if (!std::isnan(each.auc)) values.push_back(each.*score);
  }
  std::sort(values.begin(), values.end());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

RankingSummary summarise(std::span<const RankingScores> scores) {
  RankingSummary summary;
  summary.skipped_queries = std::ranges::count_if(scores, [](const auto& score) { return std::isnan(score.auc); });
  summary.queries = std::ssize(scores) - summary.skipped_queries;
  if (summary.queries == 0) return summary;
  summary.auc = mean_of(scores, &RankingScores::auc);
  summary.average_precision = mean_of(scores, &RankingScores::average_precision);
  summary.precision_at_k = mean_of(scores, &RankingScores::precision_at_k);
  return summary;
}

}  // namespace

RankingSummary evaluate_ranking(const Divergence& divergence, const MatrixView& rows, std::span<const int> classes,
                                Index precision_at, const RunControl& control) {
  internal::check_not_empty(rows, "rows");
  internal::check_classes(classes, rows.rows(), "classes");
  internal::check_at_least(precision_at, 1, "precision_at");
  divergence.check_points(rows);
  divergence.check_references(rows);

  const internal::ReferenceGroups groups = internal::group_references(divergence, rows);
  const internal::GroupClasses group_classes(groups, classes);
  const std::vector<Index> group_sizes = groups.sizes();
  const internal::HarmonicNumbers harmonic = internal::harmonic_numbers(rows.rows());
  std::vector<RankingScores> scores(rows.rows());
  const std::vector<internal::TiedGroup> room(groups.size());
  std::vector<std::pair<std::vector<internal::TiedGroup>, std::vector<internal::TiedGroup>>> buffers(
      omp_get_max_threads(), {room, room});

  // The divergences are computed outside of the parallel loop, so that BLAS can use all threads.
  const Index step = internal::block_rows(groups.size());
  Matrix buffer(std::min(step, rows.rows()), groups.size());
  const auto score_block = [&](Index first, Index end) {
    auto divergences = buffer.topRows(end - first);
    groups.references->divergences_from(rows.middleRows(first, end - first), divergences);
#pragma omp parallel for schedule(dynamic, 1) if (divergences.size() > internal::kEntriesForThreads)
    for (Index q = 0; q < divergences.rows(); ++q) {
      const auto query = static_cast<std::size_t>(first + q);
      auto& [candidates, scratch] = buffers[omp_get_thread_num()];
      for (Index g = 0; g < std::ssize(candidates); ++g) {
        const std::int32_t same_class = group_classes.rows(g, classes[query]);
        candidates[g] = {divergences(q, g), same_class, static_cast<std::int32_t>(group_sizes[g]) - same_class};
      }
      --candidates[groups.group_of_row[query]].relevant;  // the query itself is no candidate
      internal::sort_by_distance(candidates, scratch);
      scores[query] = internal::tied_ranking_scores(candidates, precision_at, harmonic, groups.tie_tolerance);
    }
  };
  const Index done = internal::for_each_batch(rows.rows(), step, control, score_block);
  RankingSummary summary = summarise(std::span(scores).first(done));
  summary.stopped = done < rows.rows();
  return summary;
}

std::vector<std::vector<RankedRow>> rank(const Divergence& divergence, const MatrixView& queries,
                                         const MatrixView& pool, Index top, const RunControl& control) {
  internal::check_not_empty(pool, "pool");
  internal::check_same_features(queries, "queries", pool, "pool");
  internal::check_at_least(top, 0, "top");
  return top_k(divergence, pool, queries, top, control);
}

}  // namespace bregmax
