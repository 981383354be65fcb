#include "bregmax/tasks/kmeans.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "core/checks.hpp"
#include "core/progress.hpp"
#include "core/text.hpp"
#include "search/tiled_search.hpp"
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
  std::vector<Index> order(rows.rows());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    const double* row_a = rows.row(a).data();
    const double* row_b = rows.row(b).data();
    return std::lexicographical_compare(row_a, row_a + rows.cols(), row_b, row_b + rows.cols());
  });
  return order;
}

// What a restart is run on. Means are taken in the space in which the divergence is a Bregman divergence: rows of an
// embedding are embedded first.
struct Rows {
  Rows(const Divergence& divergence, Matrix sorted, KMeansStart start)
      : raw(std::move(sorted)),
        embedding(dynamic_cast<const EmbeddingDivergence*>(&divergence)),
        embedded(embedding != nullptr ? embedding->embed(raw) : Matrix()),
        measured(embedding != nullptr ? embedding->inner() : divergence, embedding != nullptr ? embedded : raw) {
    if (start == KMeansStart::kEuclidean) euclidean.emplace(squared_euclidean, raw);
  }

  SquaredEuclidean squared_euclidean;
  Matrix raw;
  const EmbeddingDivergence* embedding;
  Matrix embedded;
  internal::MeasuredRows measured;
  std::optional<internal::MeasuredRows> euclidean;  // where the start comes from, if that is Euclidean k-means
};

KMeansRun run_once(const Rows& rows, const KMeansOptions& options, Random random, const RunControl& control) {
  Matrix centroids =
      internal::plus_plus_centroids(rows.euclidean ? *rows.euclidean : rows.measured, options.clusters, random);
  if (rows.euclidean) {
    centroids = internal::lloyd(*rows.euclidean, std::move(centroids), options.max_iterations, control).centroids;
    if (rows.embedding != nullptr) centroids = rows.embedding->embed(centroids);
  }
  return internal::lloyd(rows.measured, std::move(centroids), options.max_iterations, control);
}

// Calls work(i) for i = 0 .. count - 1, each on a different thread; an exception reaches the caller.
template <class Work>
void in_parallel(int count, const Work& work) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(static, 1) if (count > 1)
  for (int i = 0; i < count; ++i) {
    try {
      work(i);
    } catch (...) {
#pragma omp critical(bregmax_kmeans_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::string to_string(KMeansStart start) { return start == KMeansStart::kEuclidean ? "euclidean" : "divergence"; }

KMeansStart start_named(const std::string& name) {
  return internal::value_named(std::array{KMeansStart::kEuclidean, KMeansStart::kDivergence}, name, "start");
}

KMeansResult kmeans(const Divergence& divergence, const MatrixView& rows, const KMeansOptions& options,
                    const RunControl& control) {
  check_input(divergence, rows, options);
  const internal::Stopwatch watch;
  const std::vector<Index> order = lexicographic_order(rows);
  const Rows prepared(divergence, rows(order, Eigen::all), options.start);
  const Random random(options.seed);
  KMeansResult result;
  // One restart per thread: the threads then wait for each other once per restart and not in every iteration.
  const bool large = rows.size() * options.clusters > internal::kEntriesForThreads;
  const int batch = large && !omp_in_parallel() ? omp_get_max_threads() : 1;
  for (int first = 0; first < options.restarts && !result.stopped; first += batch) {
    std::vector<KMeansRun> runs(std::min(batch, options.restarts - first));
    in_parallel(static_cast<int>(runs.size()),
                [&](int i) { runs[i] = run_once(prepared, options, random.fork(first + i), control); });
    for (KMeansRun& run : runs) {
      const std::vector<int> sorted = run.cluster_of_row;
      for (std::size_t row = 0; row < order.size(); ++row) run.cluster_of_row[order[row]] = sorted[row];
      if (result.best.cluster_of_row.empty() || run.objective < result.best.objective) result.best = run;
      if (options.keep_restarts) result.restarts.push_back(std::move(run));
    }
    const int done = first + static_cast<int>(runs.size());
    Progress progress = internal::share_done("cluster", done, options.restarts, watch);
    progress.objective = result.best.objective;
    control.report(progress);
    result.stopped = control.stop_requested();
  }
  return result;
}

}  // namespace bregmax
