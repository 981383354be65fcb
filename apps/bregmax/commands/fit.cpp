#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "bregmax/learn/run.hpp"
#include "commands/commands.hpp"
#include "core/checkpoint_file.hpp"
#include "options/fit_options.hpp"
#include "options/input.hpp"
#include "pictures/pictures.hpp"
#include "pictures/png.hpp"
#include "progress.hpp"
#include "reports/fit_report.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kFitExamples = R"(
Examples:
  bregmax fit builtin:wine --out wine.bregmax --picture path.svg
  bregmax fit builtin:wine --lambda 10 --smoothing 1 --out wine.bregmax
  bregmax fit people.csv --label none --pairs-file pairs.csv --out people.bregmax
  bregmax fit builtin:iris --method itml --out itml.bregmax
  bregmax fit builtin:iris --method itml --method-parameter gamma=10 --out itml.bregmax
  bregmax fit points.npy --targets-file targets.csv --pieces 50 --time-limit 60 --json
  bregmax fit patients.csv --target progression --out patients.bregmax
  bregmax fit large.npy --comparisons-file c.csv --lambda 1 --solver admm --checkpoint run.state

The objective is the summed loss plus lambda times the Lipschitz constant, on the features after scaling.
Without --method and options of pbdl, what scores best on held-out data is learned: the Euclidean distance, smooth, pbdl
or deep. For pbdl, lambda and the smoothing are chosen by cross-validation where they are not given.
Scores are kept in MODEL.scores until MODEL is written: the same command goes on from there.
Ctrl-C ends the run early with exit code 1; a second one, from a second later on, kills it.)";

// What the rows are learned from: a file, or the labels.
MethodSupervision supervision_of(const FitCommand& fit, const Table& table) {
  if (auto items = read_supervision(fit.files, table)) return *std::move(items);
  const std::string name = fit.request.method == "auto" ? "pbdl" : fit.request.method;  // both learn from anything
  const Method& method = method_named(name);
  require(method.from_labels || method.from_pairs, "{} learns from target values; give --targets-file or --target",
          method.name);
  if (table.labels) return table.labels->of_row;
  if (!method.needs_supervision) return ClassOfRow(static_cast<std::size_t>(table.features.rows()));
  require(method.learns_from_items, "{}: {} learns from {}, and there is no label column; name it with --label",
          table.source, method.name, method.from_labels ? "labels" : "pairs");
  require(fit.request.supervision.empty() && !fit.request.comparisons && !fit.request.hard_neighbours,
          "{}: there is no label column to draw supervision from; name it with --label", table.source);
  fail(
      "{}: nothing to learn from: there is no label column (--label NAME names one); give --target, "
      "--comparisons-file, --pairs-file or --targets-file",
      table.source);
}

TrainingData training_data(const FitCommand& fit, const Table& table) {
  if (!table.target || fit.files.given()) return {table.features, supervision_of(fit, table)};
  const Method& method = method_named(fit.request.method == "auto" ? "smooth" : fit.request.method);
  require(method.from_targets, "--target: {} learns from {}, not from a number per row", method.name,
          internal::joined(method.supervision(), ", "));
  require(!fit.files.first_row,
          "--first-row is about the rows that --comparisons-file, --pairs-file or --targets-file name");
  return {table.features, {}, {}, *table.target};
}

void check_pieces(const FitCommand& fit, const Table& table) {
  if (!table.pieces) return;
  const std::set<int> pieces(table.pieces->begin(), table.pieces->end());
  for (int expected = 0; const int piece : pieces) {
    require(piece == expected, "{}: column {}: piece {} has no row; every piece from 0 to {} needs at least one",
            table.source, fit.layout.piece_column, expected, *pieces.rbegin());
    ++expected;
  }
}

void check_files(const FitCommand& fit) {
  const SolverSettings& solver = fit.request.solver;
  check_outputs({{"--out", fit.out}, {"--picture", fit.picture}, {"--checkpoint", solver.checkpoint}},
                input_files(fit));
  // A run may write its checkpoints to the file that it resumes from, but no other output.
  check_outputs({{"--out", fit.out}, {"--picture", fit.picture}}, {{"--resume", solver.resume}});
  internal::check_checkpoint_files(solver.checkpoint, solver.resume);
  // The model to go on from may be replaced.
  check_outputs({{"--picture", fit.picture}}, {{"--start", fit.start}});
  check_picture(fit.picture);
}

// Those of the model to go on from, and the new ones.
std::vector<std::string> known_classes(const FitRequest& request, const Labels& labels) {
  std::vector<std::string> names = request.start ? request.start->class_names : std::vector<std::string>();
  for (const std::string& name : labels.class_names) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

void print_outcome(const FinishedFit& report) {
  print_report(report.fit.json, fit_as_json(report), fit_as_text(report));
  for (const Finding& finding : report.outcome.diagnosis) {
    if (finding.kind == Finding::Kind::kEarlyEnd) say(explain_early_end(report, finding));
    if (finding.kind == Finding::Kind::kNotBetterThanEuclidean && !report.fit.json) say("bregmax: " + finding.text);
    if (finding.kind == Finding::Kind::kConstant && is_success(report.outcome.report.status)) {
      say("bregmax: warning: " + finding.text);
    }
  }
}

// What will be done, before it is done.
void say_plan(const Plan& planned) {
  for (const std::string& note : planned.notes) say("bregmax: " + note);
  if (!planned.has_choice()) return;
  std::string text = planned.summary(omp_get_max_threads());
  if (std::filesystem::exists(planned.scores_file)) {
    text +=
        fmt::format("scores of an earlier run are taken from {} where they are of the same fit\n", planned.scores_file);
  }
  text.pop_back();
  say(text);
}

ExitCode run_fit(const FitCommand& fit) {
  const Interrupt interrupt;
  FitRequest request = complete_request(fit);
  check_files(fit);
  TableOptions layout = fit.layout;
  if (request.start) layout.recipe = recipe_of(*request.start);
  const Table table = read_table(fit.data, layout);
  check_row_numbers(table, fit.files.path());
  check_pieces(fit, table);
  check_sizes(table);
  request.piece_of = table.pieces;
  if (table.labels) request.names.labels = fmt::format("{}: column {}", table.source, table.labels->column);
  request.names.row_targets = fmt::format("{}: column {}", table.source, table.recipe.target);
  const TrainingData data = training_data(fit, table);
  Plan planned = plan(request, data);
  refuse_idle_tuning_options(fit, planned);
  require(fit.picture.empty() || planned.has_choice(),
          "--picture shows the scores of what is tried, and there is nothing to choose");
  if (!fit.out.empty() && planned.has_choice()) planned.scores_file = fit.out + ".scores";
  say_data(table, !fit.json);
  if (!fit.json) say_plan(planned);

  ProgressLine progress;
  RunControl control = progress.control();
  control.on_log = [](std::string_view line) { say(fmt::format("bregmax: {}", line)); };
  FitOutcome outcome = run(planned, data, control);
  progress.clear();
  Model& model = outcome.model;
  model.feature_names = table.feature_names;
  model.recipe = table.recipe;
  if (table.labels) model.class_names = known_classes(request, *table.labels);

  // A run that --early-stop ended did what was asked, although it is not called optimal.
  const bool reached = is_success(outcome.report.status);
  const Finding* beyond_doubles = outcome.find(Finding::Kind::kScalesBeyondDoubles);
  if (beyond_doubles != nullptr && !fit.keep_partial) fail("{}: {}", table.source, beyond_doubles->text);
  const bool save = !fit.out.empty() && model.divergence != nullptr && (reached || fit.keep_partial);
  if (save) save_model(model, fit.out);
  if (reached && !planned.scores_file.empty()) std::filesystem::remove(planned.scores_file);
  if (!fit.picture.empty() && reached) write_picture(fit.picture, draw_tuning(model.tuning));
  print_outcome({fit, planned, table, outcome, save});
  return reached ? kDone : kNotReached;
}

}  // namespace

void add_fit(CLI::App& program, Action& chosen) {
  auto [options, fit] =
      add_command(program, {"fit", "learn a divergence from data and supervision", kFitExamples}, run_fit, chosen);
  add_fit_options(options, *fit);
}

}  // namespace bregmax::app
