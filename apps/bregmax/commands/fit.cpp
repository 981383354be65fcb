#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/supervision/files.hpp"
#include "bregmax/supervision/sample.hpp"
#include "commands/commands.hpp"
#include "commands/fit_method.hpp"
#include "options/fit_options.hpp"
#include "pictures/png.hpp"
#include "pictures/tuning_picture.hpp"
#include "progress.hpp"
#include "reports/fit_report.hpp"
#include "reports/output.hpp"
#include "reports/tuning_report.hpp"

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

const Labels& labels_for(const FitRequest& request, const Table& table) {
  if (table.labels) return *table.labels;
  if (request.from_labels || request.all_pairs || request.comparisons_given || request.hard_neighbours > 0) {
    throw Error(
        fmt::format("{}: there is no label column to draw supervision from; name it with --label", table.source));
  }
  throw Error(
      fmt::format("{}: nothing to learn from: there is no label column (--label NAME names one); give "
                  "--comparisons-file, --pairs-file or --targets-file",
                  table.source));
}

// Supervision that a file gives; none: labels.
std::optional<Supervision> given_supervision(const FitRequest& request, Index rows) {
  if (!request.comparisons_file.empty()) return read_comparisons(request.comparisons_file, rows);
  if (!request.pairs_file.empty()) return read_pairs(request.pairs_file, rows);
  if (!request.targets_file.empty()) return read_targets(request.targets_file, rows);
  return std::nullopt;
}

// Mistakes of the labels, told with the file and the column that they are in.
void check_labels(const Table& table, const AutoFitOptions& plan) {
  const Labels& labels = *table.labels;
  const std::set<int> classes(labels.of_row.begin(), labels.of_row.end());
  const bool all_pairs = plan.supervision.front().kind == LabelSupervision::kAllPairs;
  if (all_pairs && classes.size() == labels.of_row.size() && classes.size() > 2) {
    throw Error(
        fmt::format("{}: column {}, the labels, has another one in each of its {} rows, so that no two are similar; "
                    "--label C names another column, --targets-file F has numbers to learn",
                    table.source, labels.column, labels.of_row.size()));
  }
  try {
    if (!all_pairs) {
      sample_comparisons(labels.of_row, 1, 0);
    } else if (labels.of_row.size() < 2) {
      label_pairs(labels.of_row);
    }
    if (has_choice(plan)) usable_folds(labels.of_row, plan.folds);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {} (labels are in column {}){}", table.source, error.what(), labels.column,
                            has_choice(plan) && classes.size() > 1 ? "; --lambda V needs no cross-validation" : ""));
  }
}

void check_pieces(const FitRequest& request, const Table& table) {
  if (!table.pieces) return;
  const std::set<int> pieces(table.pieces->begin(), table.pieces->end());
  int expected = 0;
  for (const int piece : pieces) {
    if (piece != expected) {
      throw Error(fmt::format("{}: column {}: piece {} has no row; every piece from 0 to {} needs at least one",
                              table.source, request.layout.piece_column, expected, *pieces.rbegin()));
    }
    ++expected;
  }
}

AutoFitResult learn(const FitRequest& request, const Table& table, const std::optional<Supervision>& supervision,
                    const AutoFitOptions& plan, const RunControl& control) {
  if (!supervision) return fit_from_labels(table.features, table.labels->of_row, plan, control);
  const Index items = item_count(*supervision);
  if (has_choice(plan) && items < plan.folds) {
    throw Error(
        fmt::format("--folds is {}, but the supervision has only {}: too few to choose by cross-validation; "
                    "give --lambda V",
                    request.folds, count_of(items, "item")));
  }
  return fit_from_items(table.features, *supervision, plan, control);
}

ExitCode run_fit(const FitRequest& request) {
  if (request.method != "pbdl") return run_fit_method(request);
  const Interrupt interrupt;
  check_request(request);
  check_outputs({{"--out", request.out}, {"--picture", request.picture}, {"--checkpoint", request.large.checkpoint}},
                input_files(request));
  // A run may continue in the file that it comes from, and write nothing else there.
  check_outputs({{"--out", request.out}, {"--picture", request.picture}}, {{"--resume", request.large.resume}});
  check_picture(request.picture);
  const ThreadLimit limit(static_cast<int>(request.threads));
  const Table table = read_table(request.data, {request.layout.label, request.layout.piece_column});
  check_pieces(request, table);
  const std::optional<Supervision> supervision = given_supervision(request, table.features.rows());
  if (!supervision) labels_for(request, table);
  const AutoFitOptions plan = fit_plan(request, table, supervision);
  if (!supervision) check_labels(table, plan);
  if (!request.picture.empty() && plan.lambdas.size() < 2) {
    throw Error("--picture shows scores along lambda, and only one lambda is tried");
  }

  ProgressLine progress(request.solver == "admm" ? plan.fit.admm.tolerance : plan.fit.tolerance);
  RunControl control = progress.control();
  control.on_log = [](std::string_view line) { say(fmt::format("bregmax: {}", line)); };
  AutoFitResult result = learn(request, table, supervision, plan, control);
  progress.clear();
  Model& model = result.fit.model;
  model.feature_names = table.feature_names;
  if (table.labels) model.class_names = table.labels->class_names;

  // An early stop that was asked for is what was asked for; it is never called optimal.
  const Status status = result.fit.report.status;
  const bool optimal = status == Status::kOptimal || status == Status::kEarlyStopped;
  refuse_scales_beyond_doubles({request, plan, table, result, false});
  const bool save = !request.out.empty() && model.divergence != nullptr && (optimal || request.keep_partial);
  if (save) save_model(model, request.out);
  if (!request.picture.empty() && optimal) write_picture(request.picture, draw_tuning(model.tuning));

  const FitOutcome outcome{request, plan, table, result, save};
  if (request.json) {
    print_json(fit_as_json(outcome));
  } else {
    print(fit_as_text(outcome));
  }
  if (optimal && model.record.constant) say(explain_constant(outcome, supervision));
  if (!optimal) say(explain_early_end(outcome));
  return optimal ? kDone : kNotReached;
}

}  // namespace

void add_fit(CLI::App& program, Action& chosen) {
  const auto [command, request] = add_command(
      program, {"fit", "learn a divergence from data and supervision, to a proved gap", kFitExamples}, run_fit, chosen);
  add_fit_options(*command, *request);
  add_method_options(*command, *request);
}

}  // namespace bregmax::app
