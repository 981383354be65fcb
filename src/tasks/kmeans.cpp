#include "bregmax/tasks/kmeans.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "bregmax/divergence/squared_euclidean.hpp"
#include "tasks/checks.hpp"
#include "tasks/lloyd.hpp"

namespace bregmax {
namespace {

void check_input(const Divergence& divergence, const MatrixView& rows, const KMeansOptions& options) {
  internal::check_not_empty(rows, "rows");
  internal::check_range(options.clusters, 1, rows.rows(), "clusters", "the number of rows");
  internal::check_at_least(options.restarts, 1, "restarts");
  internal::check_at_least(options.max_iterations, 1, "max_iterations");
  divergence.check_points(rows);
  divergence.check_references(rows);
}

// Row numbers such that the rows ascend lexicographically. Equal rows are interchangeable.
std::vector<Index> lexicographic_order(const MatrixView& rows) {
  std::vector<Index> order(static_cast<std::size_t>(rows.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    const double* row_a = rows.row(a).data();
    const double* row_b = rows.row(b).data();
    return std::lexicographical_compare(row_a, row_a + rows.cols(), row_b, row_b + rows.cols());
  });
  return order;
}

KMeansRun run_once(const Divergence& divergence, const Matrix& rows, const KMeansOptions& options, Random random,
                   const RunControl& control) {
  if (options.start == KMeansStart::divergence) {
    Matrix seeds = internal::plus_plus_centroids(divergence, rows, options.clusters, random);
    return internal::lloyd(divergence, rows, std::move(seeds), options.max_iterations, control);
  }
  const SquaredEuclidean euclidean;
  Matrix seeds = internal::plus_plus_centroids(euclidean, rows, options.clusters, random);
  KMeansRun start = internal::lloyd(euclidean, rows, std::move(seeds), options.max_iterations, control);
  return internal::lloyd(divergence, rows, std::move(start.centroids), options.max_iterations, control);
}

void restore_row_order(const std::vector<Index>& order, KMeansRun& run) {
  std::vector<int> cluster_of_row(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    cluster_of_row[static_cast<std::size_t>(order[i])] = run.cluster_of_row[i];
  }
  run.cluster_of_row = std::move(cluster_of_row);
}

}  // namespace

KMeansResult kmeans(const Divergence& divergence, const MatrixView& rows, const KMeansOptions& options,
                    const RunControl& control) {
  check_input(divergence, rows, options);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Index> order = lexicographic_order(rows);
  Matrix sorted(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < order.size(); ++i) sorted.row(static_cast<Index>(i)) = rows.row(order[i]);

  const Random random(options.seed);
  KMeansResult result;
  for (int restart = 0; restart < options.restarts; ++restart) {
    KMeansRun run = run_once(divergence, sorted, options, random.fork(static_cast<std::uint64_t>(restart)), control);
    restore_row_order(order, run);
    if (restart == 0 || run.objective < result.best.objective) result.best = run;
    if (options.keep_restarts) result.restarts.push_back(std::move(run));

    Progress progress{.phase = "cluster", .iteration = restart + 1};
    progress.fraction = static_cast<double>(restart + 1) / static_cast<double>(options.restarts);
    progress.objective = result.best.objective;
    progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    control.report(progress);
    result.stopped = control.stop_requested();
    if (result.stopped) break;
  }
  return result;
}

}  // namespace bregmax
