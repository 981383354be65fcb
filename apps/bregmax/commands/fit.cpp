#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bregmax/learn/run.hpp"
#include "bregmax/supervision/files.hpp"
#include "bregmax/supervision/sample.hpp"
#include "commands/commands.hpp"
#include "options/fit_options.hpp"
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
  bregmax fit large.npy --comparisons-file c.csv --lambda 1 --solver admm --checkpoint run.state

The objective is the summed loss plus lambda times the Lipschitz constant, on the features after scaling.
Where it is not given, lambda is chosen by cross-validation, and with it the smoothing.
Ctrl-C ends the run early with exit code 1; a second one, from a second later on, kills it.)";

// What the rows are learned from: a file, or the labels.
MethodSupervision read_supervision(const FitCommand& fit, const Table& table) {
  const Index rows = table.features.rows();
  if (!fit.comparisons_file.empty()) return read_comparisons(fit.comparisons_file, rows);
  if (!fit.pairs_file.empty()) return read_pairs(fit.pairs_file, rows);
  if (!fit.targets_file.empty()) return read_targets(fit.targets_file, rows);
  const Method& method = method_named(fit.request.method);
  require(method.from_labels || method.from_pairs, "{} learns from target values; give --targets-file", method.name);
  if (table.labels) return table.labels->of_row;
  if (!method.needs_supervision) return ClassOfRow(static_cast<std::size_t>(rows));
  require(method.learns_from_items, "{}: {} learns from {}, and there is no label column; name it with --label",
          table.source, method.name, method.from_labels ? "labels" : "pairs");
  require(fit.request.supervision.empty() && !fit.request.comparisons && !fit.request.hard_neighbours,
          "{}: there is no label column to draw supervision from; name it with --label", table.source);
  fail(
      "{}: nothing to learn from: there is no label column (--label NAME names one); give "
      "--comparisons-file, --pairs-file or --targets-file",
      table.source);
}

// Refuses labels that pbdl cannot draw supervision from; the message names their file and column.
void check_labels(const Table& table, const Plan& plan) {
  const Labels& labels = *table.labels;
  const std::set<int> classes(labels.of_row.begin(), labels.of_row.end());
  const bool all_pairs = plan.supervision.front().kind == LabelSupervision::kAllPairs;
  require(!all_pairs || classes.size() != labels.of_row.size() || classes.size() <= 2,
          "{}: column {}, the labels, has a different label in each of its {} rows, so that no two are "
          "similar; --label C names another column, --targets-file F has numbers to learn",
          table.source, labels.column, labels.of_row.size());
  try {
    if (!all_pairs) {
      sample_comparisons(labels.of_row, 1, 0);
    } else if (labels.of_row.size() < 2) {
      label_pairs(labels.of_row);
    }
    if (plan.has_choice()) usable_folds(labels.of_row, plan.folds);
  } catch (const Error& error) {
    fail("{}: {} (labels are in column {}){}", table.source, error.what(), labels.column,
         plan.has_choice() && classes.size() > 1 ? "; --lambda V needs no cross-validation" : "");
  }
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
  check_picture(fit.picture);
}

void print_outcome(const FinishedFit& report) {
  print_report(report.fit.json, fit_as_json(report), fit_as_text(report));
  for (const Finding& finding : report.outcome.diagnosis) {
    if (finding.kind == Finding::Kind::kEarlyEnd) say(explain_early_end(report, finding));
    if (finding.kind == Finding::Kind::kConstant && is_success(report.outcome.report.status)) {
      say("bregmax: warning: " + finding.text);
    }
  }
}

ExitCode run_fit(const FitCommand& fit) {
  const Interrupt interrupt;
  FitRequest request = complete_request(fit);
  check_files(fit);
  const Table table = read_table(fit.data, fit.layout);
  check_pieces(fit, table);
  request.piece_of = table.pieces;
  const TrainingData data{table.features, read_supervision(fit, table)};
  const Plan planned = plan(request, data);
  refuse_idle_tuning_options(fit, planned);
  const auto shown = [](double lambda) { return lambda > 0; };  // by a logarithmic axis
  require(fit.picture.empty() || std::ranges::count_if(planned.values("lambda"), shown) > 1,
          "--picture shows scores along lambda, and fewer than two lambdas above 0 are tried");
  if (data.labelled() && planned.method->learns_from_items) check_labels(table, planned);

  ProgressLine progress;
  RunControl control = progress.control();
  control.on_log = [](std::string_view line) { say(fmt::format("bregmax: {}", line)); };
  FitOutcome outcome = run(planned, data, control);
  progress.clear();
  Model& model = outcome.model;
  model.feature_names = table.feature_names;
  if (table.labels) model.class_names = table.labels->class_names;

  // A run that --early-stop ended did what was asked, although it is not called optimal.
  const bool reached = is_success(outcome.report.status);
  const Finding* beyond_doubles = outcome.find(Finding::Kind::kScalesBeyondDoubles);
  if (beyond_doubles != nullptr && !fit.keep_partial) fail("{}: {}", table.source, beyond_doubles->text);
  const bool save = !fit.out.empty() && model.divergence != nullptr && (reached || fit.keep_partial);
  if (save) save_model(model, fit.out);
  if (!fit.picture.empty() && reached) write_picture(fit.picture, draw_tuning(model.tuning));
  print_outcome({fit, planned, table, outcome, save});
  return reached ? kDone : kNotReached;
}

}  // namespace

void add_fit(CLI::App& program, Action& chosen) {
  auto [options, fit] = add_command(
      program, {"fit", "learn a divergence from data and supervision, to a proved gap", kFitExamples}, run_fit, chosen);
  add_fit_options(options, *fit);
}

}  // namespace bregmax::app
