#include "bregmax/tasks/evaluate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "commands/commands.hpp"
#include "options/input.hpp"
#include "options/options.hpp"
#include "reports/output.hpp"
#include "reports/run.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kEvaluateExamples = R"(
Examples:
  bregmax evaluate wine.bregmax test.csv --train train.csv
  bregmax evaluate wine.bregmax builtin:wine --json

Clustering of the test rows (median over the restarts), ranking of the test rows for each other, and nearest neighbours
among the training rows. All scores are fractions; ties in rankings count with their expected value.)";

struct EvaluateRequest {
  std::string model, test, train;
  Layout layout;
  std::string start = "euclidean";
  std::uint64_t neighbours = 5, restarts = 20, seed = 0, threads = 0;
  bool json = false;
};

EvaluationScores scores_of(const EvaluateRequest& request, const Model& model, const ModelInput& test,
                           const RunControl& control) {
  EvaluationOptions options;
  options.k = static_cast<Index>(request.neighbours);
  options.restarts = static_cast<int>(request.restarts);
  options.seed = request.seed;
  options.start = request.start == "euclidean" ? KMeansStart::kEuclidean : KMeansStart::kDivergence;
  if (request.train.empty()) return evaluate(*model.divergence, test.rows, test.table.labels->of_row, options, control);
  const ModelInput train = read_labelled(model, request.train, request.layout);
  if (options.k > train.rows.rows()) {
    throw Error(fmt::format("-k is {}; allowed: 1 to {}, the number of training rows", options.k, train.rows.rows()));
  }
  const SharedClasses classes = share_classes(*test.table.labels, *train.table.labels);
  return evaluate(*model.divergence, test.rows, classes.first, train.rows, classes.second, options, control);
}

Json as_json(const EvaluateRequest& request, const ModelInput& test, const EvaluationScores& scores) {
  return {{"rand_index", scores.rand_index},
          {"purity", scores.purity},
          {"auc", scores.auc},
          {"average_precision", scores.average_precision},
          {"knn_accuracy", scores.knn_accuracy},
          {"adjusted_rand_index", scores.adjusted_rand_index},
          {"normalised_mutual_information", scores.normalised_mutual_information},
          {"precision_at_10", scores.precision_at_k},
          {"queries", scores.queries},
          {"skipped_queries", scores.skipped_queries},
          {"n", test.rows.rows()},
          {"classes", test.table.labels->classes()},
          {"k", request.neighbours},
          {"restarts", request.restarts},
          {"start", request.start},
          {"seed", request.seed},
          {"model", request.model},
          {"test", request.test},
          {"train", request.train.empty() ? Json(nullptr) : Json(request.train)}};
}

std::string as_text(const EvaluateRequest& request, const EvaluationScores& scores) {
  const auto line = [](std::string_view name, double score, std::string_view note) {
    const std::string value = std::isfinite(score) ? fmt::format("{:.4f}", score) : "-";
    return fmt::format("{:<18} {:>7}   {}\n", name, value, note);
  };
  return line("Rand index", scores.rand_index, "k-means, agreement of pairs of rows with the classes") +
         line("purity", scores.purity, "k-means, rows in a cluster of mostly their class") +
         line("AUC", scores.auc, "rows of the query's class rank before the others") +
         line("average precision", scores.average_precision, "the same, where the first places count most") +
         line("k-NN accuracy", scores.knn_accuracy,
              request.train.empty() ? "needs --train" : fmt::format("k = {}", request.neighbours));
}

ExitCode run_evaluate(const EvaluateRequest& request) {
  const ThreadLimit limit(static_cast<int>(request.threads));
  const Model model = load_model(request.model);
  const ModelInput test = read_labelled(model, request.test, request.layout);
  const Interrupt interrupt;
  ProgressLine progress;
  const EvaluationScores scores = scores_of(request, model, test, progress.control());
  progress.clear();
  if (scores.stopped) {
    say("bregmax: stopped by an interrupt before all scores were known");
    return kNotReached;
  }
  if (request.json) {
    print_json(as_json(request, test, scores));
  } else {
    print(as_text(request, scores));
  }
  return kDone;
}

}  // namespace

void add_evaluate(CLI::App& program, Action& chosen) {
  const auto [command, request] = add_command(
      program, {"evaluate", "scores of a model on rows with labels", kEvaluateExamples}, run_evaluate, chosen);
  OptionAdder options(*command);
  options.model(request->model);
  options.text("TEST", request->test, "", "rows with labels: CSV, .npy or builtin:NAME")->required();
  options.text("--train", request->train, "T", "rows with labels, for the nearest neighbours");
  options.whole("-k", request->neighbours, "K", {1, 1'000'000'000}, "nearest neighbours, at most the training rows");
  options.whole("--restarts", request->restarts, "R", {1, 1'000'000}, "of k-means");
  options.choice("--start", request->start, {"euclidean", "divergence"},
                 "of k-means: k-means in Euclidean space, as in the paper, or k-means++ in the model's divergence");
  options.seed(request->seed, "of the starts of k-means");
  options.layout(request->layout);
  options.threads(request->threads);
  options.json(request->json);
}

}  // namespace bregmax::app
