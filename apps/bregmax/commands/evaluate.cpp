#include "bregmax/tasks/evaluate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "commands/commands.hpp"
#include "core/text.hpp"
#include "progress.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kEvaluateExamples = R"(
Examples:
  bregmax evaluate wine.bregmax test.csv --train train.csv
  bregmax evaluate wine.bregmax builtin:wine --json

Clustering of the test rows (median over the restarts), ranking of the test rows for each other, and nearest neighbours
among the training rows. All scores are fractions; ties in rankings count with their expected value.)";

struct EvaluateRequest : ModelRequest {
  std::string test, train;
  EvaluationOptions options;
};

EvaluationScores scores_of(const EvaluateRequest& request, const Model& model, const ModelInput& test,
                           const RunControl& control) {
  const Divergence& divergence = *model.divergence;
  if (request.train.empty()) {
    return evaluate(divergence, test.rows, test.table.labels->of_row, request.options, control);
  }
  const ModelInput train = read_labelled(model, request.train, request.layout);
  internal::check_range(request.options.k, 1, train.rows.rows(), "-k", "the number of training rows");
  const SharedClasses classes = share_classes(*test.table.labels, *train.table.labels);
  return evaluate(divergence, test.rows, classes.first, train.rows, classes.second, request.options, control);
}

Json as_json(const EvaluateRequest& request, const ModelInput& test, const EvaluationScores& scores) {
  Json object;
  for (const NamedScore& one : kScores) object[one.key] = scores.*one.score;
  object.update({{"adjusted_rand_index", scores.adjusted_rand_index},
                 {"normalised_mutual_information", scores.normalised_mutual_information},
                 {"precision_at_10", scores.precision_at_k},
                 {"queries", scores.queries},
                 {"skipped_queries", scores.skipped_queries},
                 {"n", test.rows.rows()},
                 {"classes", test.table.labels->classes()},
                 {"class_names", test.table.labels->class_names},
                 {"label", test.table.labels->column},
                 {"k", request.options.k},
                 {"restarts", request.options.restarts},
                 {"start", to_string(request.options.start)},
                 {"seed", request.options.seed},
                 {"model", request.model},
                 {"test", request.test},
                 {"train", request.train.empty() ? Json(nullptr) : Json(request.train)}});
  return object;
}

std::string classes_text(const Labels& labels) {
  constexpr std::size_t kMost = 10;
  std::vector<std::string> names = labels.class_names;
  if (names.size() > kMost) names.resize(kMost);
  return fmt::format("{:<18} {:>7}   {}{} (column {})\n", "classes", labels.classes(), internal::joined(names, ", "),
                     labels.class_names.size() > kMost ? ", ..." : "", labels.column);
}

std::string as_text(const EvaluateRequest& request, const ModelInput& test, const EvaluationScores& scores) {
  const std::array<std::string, kScores.size()> notes = {
      "k-means: pairs of rows that agree with the classes", "k-means: rows in a cluster of mostly their class",
      "rows of the query's class rank before the others", "the same, where the first places count most",
      request.train.empty() ? "needs --train" : fmt::format("k = {}", request.options.k)};
  std::string text;
  for (std::size_t s = 0; s < kScores.size(); ++s) {
    const double score = scores.*kScores[s].score;
    text += fmt::format("{:<18} {:>7}   {}\n", kScores[s].name,
                        std::isfinite(score) ? fmt::format("{:.4f}", score) : "-", notes[s]);
  }
  return text + classes_text(*test.table.labels);
}

ExitCode run_evaluate(const EvaluateRequest& request) {
  const Model model = load_model(request.model);
  const ModelInput test = read_labelled(model, request.test, request.layout);
  const EvaluationScores scores =
      run_with_progress([&](const RunControl& control) { return scores_of(request, model, test, control); });
  if (scores.stopped) return report_interrupt(" before all scores were known");
  return print_report(request.json, as_json(request, test, scores), as_text(request, test, scores));
}

}  // namespace

void add_evaluate(CLI::App& program, Action& chosen) {
  auto [options, request] = add_command(
      program, {"evaluate", "scores of a model on rows with labels", kEvaluateExamples}, run_evaluate, chosen);
  options.model(request->model);
  options.text("TEST", request->test, "", "rows with labels: CSV, .npy or builtin:NAME")->required();
  CLI::Option* train = options.text("--train", request->train, "T", "rows with labels, for the nearest neighbours");
  options
      .whole("-k", request->options.k, "K", {1, 1'000'000'000},
             "nearest neighbours, at most the number of training rows")
      ->needs(train);
  options.whole("--restarts", request->options.restarts, "R", {1, 1'000'000}, "starts of k-means");
  options.start(
      request->options.start,
      "start of k-means: k-means in Euclidean space, as in the paper, or k-means++ in the model's divergence");
  options.seed(request->options.seed, "seed of the starts of k-means");
  options.rest(*request);
}

}  // namespace bregmax::app
