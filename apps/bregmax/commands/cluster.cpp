#include <fmt/format.h>

#include "bregmax/divergence/embedding.hpp"
#include "bregmax/tasks/kmeans.hpp"
#include "bregmax/tasks/scores.hpp"
#include "commands/commands.hpp"
#include "core/text.hpp"
#include "progress.hpp"
#include "reports/row_texts.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kClusterExamples = R"(
Examples:
  bregmax cluster wine.bregmax builtin:wine -k 3
  bregmax cluster wine.bregmax new.csv -k 5 --restarts 50 --out clusters.csv

Bregman k-means: a row belongs to the centroid of smallest D(row, centroid), a centroid is the mean of its rows. If
there are labels, the agreement with them is printed on standard error.)";

struct ClusterRequest : ModelRequest {
  std::string data;
  KMeansOptions options;
};

std::string clusters_as_csv(const KMeansRun& run, const RowTexts& of_row) {
  std::string text = "row,cluster" + of_row.csv_header() + "\n";
  for (std::size_t row = 0; row < run.cluster_of_row.size(); ++row) {
    text += fmt::format("{},{}{}\n", row, run.cluster_of_row[row], of_row.csv_fields(static_cast<Index>(row)));
  }
  return text;
}

std::vector<Index> cluster_sizes(const KMeansRun& run) {
  std::vector<Index> sizes(static_cast<std::size_t>(run.centroids.rows()), 0);
  for (const int cluster : run.cluster_of_row) ++sizes[cluster];
  return sizes;
}

// In the units of the data. The centroids of an embedding are not rows, so there is nothing to show.
Json unscaled_centroids(const Model& model, const KMeansRun& run) {
  if (dynamic_cast<const EmbeddingDivergence*>(model.divergence.get()) != nullptr) return nullptr;
  const Matrix centroids = model.unscaled(run.centroids);
  Json list = Json::array();
  for (const auto& row : centroids.rowwise()) list.push_back(std::vector<double>(row.begin(), row.end()));
  return list;
}

Json summary_of(const ClusterRequest& request, const Model& model, const Table& table, const KMeansRun& run) {
  Json object = {{"n", table.features.rows()},           {"clusters", request.options.clusters},
                 {"restarts", request.options.restarts}, {"seed", request.options.seed},
                 {"objective", run.objective},           {"converged", run.converged},
                 {"sizes", cluster_sizes(run)},          {"centroids", unscaled_centroids(model, run)}};
  if (table.labels) {
    object["rand_index"] = rand_index(run.cluster_of_row, table.labels->of_row);
    object["purity"] = purity(run.cluster_of_row, table.labels->of_row);
  }
  return object;
}

void say_summary(const Table& table, const KMeansRun& run) {
  say(fmt::format("{} of {} rows, objective {}", count_of(run.centroids.rows(), "cluster"),
                  internal::joined(cluster_sizes(run), ", "), short_number(run.objective)));
  if (!table.labels) return;
  say(fmt::format("against column {}: Rand index {:.4f}, purity {:.4f}", table.labels->column,
                  rand_index(run.cluster_of_row, table.labels->of_row),
                  purity(run.cluster_of_row, table.labels->of_row)));
}

ExitCode run_cluster(const ClusterRequest& request) {
  check_outputs({{"--out", request.out}}, {{"MODEL", request.model}, {"DATA", request.data}});
  const Model model = load_model(request.model);
  const ModelInput input = read_for_model(model, request.data, request.layout);
  internal::check_range(request.options.clusters, 1, input.rows.rows(), "-k", "the number of rows");
  const KMeansResult result = run_with_progress(
      [&](const RunControl& control) { return kmeans(*model.divergence, input.rows, request.options, control); });
  if (result.stopped) return report_interrupt("; nothing was written");
  const RowTexts of_row(input.table);
  print_rows(
      request.out, request.json, [&] { return clusters_as_csv(result.best, of_row); },
      summary_of(request, model, input.table, result.best),
      [&] {
        Json object = {{"cluster_of_row", result.best.cluster_of_row}};
        of_row.add_lists_to(object);
        return object;
      });
  if (!request.json) say_summary(input.table, result.best);
  if (result.best.converged) return kDone;
  say(fmt::format("bregmax: not converged after {} iterations", request.options.max_iterations));
  return kNotReached;
}

}  // namespace

void add_cluster(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program, {"cluster", "group rows by Bregman k-means", kClusterExamples}, run_cluster, chosen);
  options.model(request->model);
  options.text("DATA", request->data, "", "rows to group: CSV, .npy or builtin:NAME")->required();
  options
      .whole("-k", request->options.clusters, "K", {1, 1'000'000'000}, "number of clusters, at most the number of rows")
      ->required()
      ->default_str("");
  options.whole("--restarts", request->options.restarts, "R", {1, 1'000'000}, "starts; the best result counts");
  options.start(request->options.start,
                "k-means in Euclidean space, as in the paper, or k-means++ in the model's divergence");
  options.seed(request->options.seed, "seed of the starts");
  options.rest(*request, kCsvOutput);
}

}  // namespace bregmax::app
