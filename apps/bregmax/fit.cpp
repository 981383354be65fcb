#include <fmt/format.h>

#include <memory>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/supervision/files.hpp"
#include "bregmax/supervision/sample.hpp"
#include "commands.hpp"
#include "fit_method.hpp"
#include "fit_options.hpp"
#include "fit_report.hpp"
#include "output.hpp"
#include "run.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  bregmax fit builtin:wine --lambda 10 --out wine.bregmax
  bregmax fit people.csv --label none --pairs-file pairs.csv --out people.bregmax
  bregmax fit builtin:iris --method itml --method-parameter gamma=10 --out itml.bregmax
  bregmax fit points.npy --targets-file targets.csv --pieces 50 --time-limit 60 --json

The objective is the summed loss plus lambda times the Lipschitz constant, on the features after scaling.
Ctrl-C ends the run early with exit code 1; a second one kills it.)";

const Labels& labels_for(const FitRequest& request, const Table& table) {
  if (table.labels) return *table.labels;
  if (request.from_labels || request.all_pairs || request.comparisons_given) {
    throw Error(
        fmt::format("{}: there is no label column to draw supervision from; name it with --label", table.source));
  }
  throw Error(
      fmt::format("{}: nothing to learn from: there is no label column (--label NAME names one); give "
                  "--comparisons-file, --pairs-file or --targets-file",
                  table.source));
}

Supervision make_supervision(const FitRequest& request, const Table& table) {
  const Index rows = table.features.rows();
  if (!request.comparisons_file.empty()) return read_comparisons(request.comparisons_file, rows);
  if (!request.pairs_file.empty()) return read_pairs(request.pairs_file, rows);
  if (!request.targets_file.empty()) return read_targets(request.targets_file, rows);
  const Labels& labels = labels_for(request, table);
  try {
    if (request.all_pairs) return all_pairs(labels.of_row);
    return sample_comparisons(labels.of_row, static_cast<Index>(request.comparisons), request.seed);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {} (labels are in column {})", table.source, error.what(), labels.column));
  }
}

ExitCode run_fit(const FitRequest& request) {
  const Interrupt interrupt;
  check_request(request);
  if (!request.out.empty()) check_can_write(request.out);
  const ThreadLimit limit(static_cast<int>(request.threads));
  const Table table = read_table(request.data, {request.layout.label, request.layout.piece_column});
  const Supervision supervision = make_supervision(request, table);
  const FitOptions options = fit_options(request, table, supervision);

  ProgressLine progress(options.tolerance);
  FitResult result = fit(table.features, supervision, options, progress.control());
  progress.clear();
  result.model.feature_names = table.feature_names;
  if (table.labels) result.model.class_names = table.labels->class_names;

  const bool optimal = result.report.status == SolveStatus::kOptimal;
  const bool save = !request.out.empty() && (optimal || request.keep_partial);
  if (save) save_model(result.model, request.out);

  const FitOutcome outcome{request, options, table, result, save};
  if (request.json) {
    print_json(fit_as_json(outcome));
  } else {
    print(fit_as_text(outcome));
  }
  if (!optimal) say(explain_early_end(outcome));
  return optimal ? kDone : kNotReached;
}

}  // namespace

void add_fit(CLI::App& program, Action& chosen) {
  CLI::App* command = program.add_subcommand("fit", "learn a divergence from data and supervision, to a proved gap");
  command->footer(kExamples);
  const auto request = std::make_shared<FitRequest>();
  add_fit_options(*command, *request);
  add_method_options(*command, *request);
  command->callback([request, &chosen] {
    chosen = [request] { return request->method == "pbdl" ? run_fit(*request) : run_fit_method(*request); };
  });
}

}  // namespace bregmax::app
