#include "bregmax/tasks/ranking.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "bregmax/tasks/scores.hpp"
#include "core/checks.hpp"
#include "search/tiled_search.hpp"
#include "tasks/group_classes.hpp"
#include "tasks/tied_ranking.hpp"

namespace bregmax {
namespace {

// Calls consume(first query, divergences of the block's queries from all references) block by block, in order. The
// divergences are computed by the calling thread, which leaves their threads to BLAS; consume() has its own.
// Returns the number of queries done: all of them unless a stop was requested.
template <class Consume>
Index for_each_block(const ReferenceSet& references, const MatrixView& queries, const RunControl& control,
                     const Consume& consume) {
  const auto start = std::chrono::steady_clock::now();
  const Index step = internal::block_rows(references.size());
  Matrix divergences(std::min(step, queries.rows()), references.size());
  Index done = 0;
  while (done < queries.rows() && !control.stop_requested()) {
    const Index size = std::min(step, queries.rows() - done);
    references.divergences_from(queries.middleRows(done, size), divergences.topRows(size));
    consume(done, MatrixView(divergences.topRows(size)));
    done += size;
    Progress progress{.phase = "rank", .iteration = static_cast<int>(done)};
    progress.fraction = static_cast<double>(done) / static_cast<double>(queries.rows());
    progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    control.report(progress);
  }
  return done;
}

// The candidates of one query, by group. Its own row is of its own class and in its own group: one relevant less.
void collect_candidates(const internal::GroupClasses& group_classes, int query_class, Index query_group,
                        const double* divergences, std::span<internal::Candidates> candidates) {
  for (std::size_t g = 0; g < candidates.size(); ++g) {
    const auto group = static_cast<Index>(g);
    const std::int32_t same_class = group_classes.rows(group, query_class);
    candidates[g] = {divergences[g], same_class, group_classes.rows(group) - same_class};
  }
  --candidates[static_cast<std::size_t>(query_group)].relevant;
}

// Summed in the order of the values, so that the mean does not depend on the order of the queries.
double mean_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

RankingSummary summarise(std::span<const RankingScores> scores) {
  std::vector<double> auc, average_precision, precision_at_k;
  for (const RankingScores& score : scores) {
    if (std::isnan(score.auc)) continue;
    auc.push_back(score.auc);
    average_precision.push_back(score.average_precision);
    precision_at_k.push_back(score.precision_at_k);
  }
  RankingSummary summary;
  summary.queries = static_cast<Index>(auc.size());
  summary.skipped_queries = static_cast<Index>(scores.size()) - summary.queries;
  if (summary.queries == 0) return summary;
  summary.auc = mean_of(std::move(auc));
  summary.average_precision = mean_of(std::move(average_precision));
  summary.precision_at_k = mean_of(std::move(precision_at_k));
  return summary;
}

}  // namespace

RankingSummary evaluate_ranking(const Divergence& divergence, const MatrixView& rows, std::span<const int> classes,
                                const RankingOptions& options, const RunControl& control) {
  internal::check_not_empty(rows, "rows");
  internal::check_classes(classes, rows.rows(), "classes");
  internal::check_at_least(options.precision_at, 1, "precision_at");
  divergence.check_points(rows);
  divergence.check_references(rows);

  const internal::ReferenceGroups groups = internal::group_references(divergence, rows);
  const internal::GroupClasses group_classes(groups, classes);
  const internal::HarmonicNumbers harmonic(rows.rows());
  std::vector<RankingScores> scores(static_cast<std::size_t>(rows.rows()));
  const std::vector<internal::Candidates> room(static_cast<std::size_t>(groups.size()));
  std::vector<std::pair<std::vector<internal::Candidates>, std::vector<internal::Candidates>>> buffers(
      static_cast<std::size_t>(omp_get_max_threads()), {room, room});

  const auto score_block = [&](Index first, const MatrixView& divergences) {
#pragma omp parallel for schedule(dynamic, 1) if (divergences.size() > internal::kEntriesForThreads)
    for (Index q = 0; q < divergences.rows(); ++q) {
      const auto query = static_cast<std::size_t>(first + q);
      auto& [candidates, scratch] = buffers[static_cast<std::size_t>(omp_get_thread_num())];
      collect_candidates(group_classes, classes[query], groups.group_of_row[query], divergences.row(q).data(),
                         candidates);
      internal::sort_by_distance(candidates, scratch);
      scores[query] = internal::tied_ranking_scores(candidates, options.precision_at, harmonic, groups.tie_tolerance);
    }
  };
  const Index done = for_each_block(*groups.references, rows, control, score_block);
  RankingSummary summary = summarise(std::span(scores).first(static_cast<std::size_t>(done)));
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
