#include "bregmax/tasks/evaluate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/scores.hpp"
#include "commands/commands.hpp"
#include "core/text.hpp"
#include "progress.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kEvaluateExamples = R"(
Examples:
  bregmax evaluate wine.bregmax test.csv --train train.csv
  bregmax evaluate wine.bregmax builtin:wine --json
  bregmax evaluate patients.bregmax test.csv --train train.csv --target progression

Clustering of the test rows (median over the restarts), ranking of the test rows for each other, and nearest neighbours
among the training rows. All scores are fractions; ties in rankings count with their expected value. With a target (the
default where the model was learned from one): how well the nearest training rows predict the numbers of the test rows,
by the model and by the Euclidean distance of standardised features.)";

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

// ---- Numbers ----

struct TargetScores {
  RegressionScores learned, euclidean;
};

TargetScores scores_of_target(const EvaluateRequest& request, const Model& model, const ModelInput& train,
                              const ModelInput& test) {
  const auto scores = [&](const Divergence& divergence, const MatrixView& stored, const MatrixView& queries) {
    return regression_scores(*test.table.target,
                             regress_nearest(divergence, stored, *train.table.target, queries, request.options.k));
  };
  const Scaling scaling = Scaling::standard(train.table.features);
  return {scores(*model.divergence, train.rows, test.rows),
          scores(SquaredEuclidean(), scaling.apply(train.table.features), scaling.apply(test.table.features))};
}

Json as_json(const RegressionScores& scores) {
  return {{"r2", scores.r2},
          {"mean_absolute_error", scores.mean_absolute_error},
          {"rank_correlation", scores.rank_correlation}};
}

std::string as_text(const EvaluateRequest& request, const TargetScores& scores) {
  const auto cell = [](double score) { return std::isfinite(score) ? fmt::format("{:.4g}", score) : "-"; };
  const auto line = [&](std::string_view name, double RegressionScores::*score, std::string_view note) {
    return fmt::format("{:<20} {:>10} {:>10}   {}\n", name, cell(scores.learned.*score), cell(scores.euclidean.*score),
                       note);
  };
  return fmt::format("{:<20} {:>10} {:>10}   k = {}\n", "", "learned", "Euclidean", request.options.k) +
         line("R2", &RegressionScores::r2, "1: exact; 0: as good as the mean") +
         line("mean absolute error", &RegressionScores::mean_absolute_error, "in units of the target") +
         line("rank correlation", &RegressionScores::rank_correlation, "1: in the right order");
}

ExitCode evaluate_target(const EvaluateRequest& request, const Model& model) {
  require(!request.train.empty(), "a target is predicted by the nearest training rows, so --train is needed");
  const ModelInput train = read_with_target(model, request.train, request.layout);
  const ModelInput test = read_with_target(model, request.test, request.layout);
  internal::check_range(request.options.k, 1, train.rows.rows(), "-k", "the number of training rows");
  const TargetScores scores = scores_of_target(request, model, train, test);
  Json object = as_json(scores.learned);
  object.update({{"euclidean", as_json(scores.euclidean)},
                 {"n", test.rows.rows()},
                 {"target", name_of_target(model, request.layout)},
                 {"k", request.options.k},
                 {"model", request.model},
                 {"test", request.test},
                 {"train", request.train}});
  return print_report(request.json, object, as_text(request, scores));
}

// ---- Classes ----

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
  const bool has_label = request.layout.label != "auto";
  if (!request.layout.target.empty() || (learned_from_row_targets(model) && !has_label)) {
    return evaluate_target(request, model);
  }
  const ModelInput test = read_labelled(model, request.test, request.layout);
  const EvaluationScores scores =
      run_with_progress([&](const RunControl& control) { return scores_of(request, model, test, control); });
  if (scores.stopped) return report_interrupt(" before all scores were known");
  return print_report(request.json, as_json(request, test, scores), as_text(request, test, scores));
}

}  // namespace

void add_evaluate(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program, {"evaluate", "scores of a model on rows with labels or targets", kEvaluateExamples},
                  run_evaluate, chosen);
  options.model(request->model);
  options.text("TEST", request->test, "", "rows with labels or targets: CSV, .npy or builtin:NAME")->required();
  CLI::Option* train =
      options.text("--train", request->train, "T", "rows with labels or targets, for the nearest neighbours");
  options.target(request->layout.target, "that of a model that was learned from one");
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
