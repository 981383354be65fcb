#include <fmt/format.h>

#include <filesystem>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "commands/reproduce.hpp"
#include "paper/summary.hpp"
#include "reports/output.hpp"
#include "reports/run.hpp"

namespace bregmax::app {
namespace {

constexpr int kRunsOfThePaper = 100;

// The rows of a table: the paper's, in its order, then our own.
std::vector<ProtocolRow> rows_of(const PaperTable& table, const std::string& methods) {
  std::vector<ProtocolRow> rows;
  if (methods != "all" && methods != "paper") {
    for (const std::string& name : names_in("--methods", methods)) rows.push_back(protocol_row(name));
    return rows;
  }
  for (const std::string& name : table.methods) rows.push_back(protocol_row(name));
  for (const ProtocolRow& row : protocol_rows()) {
    if (!row.of_paper && methods == "all") rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> dataset_names(const PaperTable& table, const ReproduceRequest& request) {
  return request.datasets == "all" ? table.datasets : names_in("--datasets", request.datasets);
}

// Names that the paper does not have are refused, also where nothing is run.
std::vector<NamedTable> datasets_of(const PaperTable& table, const ReproduceRequest& request) {
  const DatasetSource source{request.data_dir};
  std::vector<NamedTable> datasets;
  for (const std::string& name : dataset_names(table, request)) {
    std::optional<NamedTable> found = find_dataset(name, source);
    if (found) {
      datasets.push_back(std::move(*found));
    } else if (!request.report_only) {
      say("bregmax: " + how_to_get(name, source));
    }
  }
  return datasets;
}

SummaryRequest summary_request(const TablePlan& plan, const PaperTable& table, const ReproduceRequest& request) {
  SummaryRequest wanted;
  wanted.datasets = dataset_names(table, request);
  for (const ProtocolRow& row : plan.rows) wanted.rows.push_back(row.name);
  wanted.start = plan.start;
  wanted.one_model = request.choice == "one-model";
  wanted.first = plan.first;
  wanted.runs = plan.runs;
  return wanted;
}

void write_summary(const TableSummary& summary, const ReproduceRequest& request) {
  const std::string stem = (std::filesystem::path(request.out) / summary.table.name).string();
  write_file_atomically(stem + ".md", summary_as_markdown(summary));
  write_file_atomically(stem + "-times.md", times_as_markdown(summary));
  write_file_atomically(stem + ".csv", summary_as_csv(summary));
  write_file_atomically(stem + ".json", summary_as_json(summary));
  print(request.json ? summary_as_json(summary) : summary_as_text(summary));
}

// What the file has of the plan: read anew, so that the table is the one that any later report gives.
TableSummary report(const std::string& path, const TablePlan& plan, const PaperTable& table,
                    const ReproduceRequest& request) {
  return summarise(table, table_runs(read_results(path, table_format(plan.seed))),
                   summary_request(plan, table, request));
}

}  // namespace

ExitCode reproduce_table(const ReproduceRequest& request) {
  const Interrupt interrupt;
  const PaperTable& table = paper_table(request.what);
  TablePlan plan;
  plan.rows = rows_of(table, request.methods);
  plan.first = static_cast<int>(request.first);
  plan.runs = request.runs == 0 ? kRunsOfThePaper : static_cast<int>(request.runs);
  plan.start = start_named(request.start);
  plan.seed = request.seed;
  plan.datasets = datasets_of(table, request);
  if (plan.datasets.empty()) throw Error("no dataset is left to run; --data-dir names the folder with the files");
  const std::string path = (std::filesystem::path(request.out) / "table-runs.csv").string();
  WorkOutcome outcome;
  if (!request.report_only) {
    make_output_folder(request);
    const ThreadLimit limit(static_cast<int>(request.threads));
    ResultsFile results(path, table_format(plan.seed));
    ProgressLine progress;
    outcome = run_jobs(missing_jobs(plan, results), results, static_cast<int>(request.threads), progress.control());
    progress.clear();
  }
  write_summary(report(path, plan, table, request), request);
  if (!outcome.stopped) return kDone;
  say(fmt::format(
      "bregmax: stopped by an interrupt; {} of this command's runs are left, and the same command continues",
      outcome.left));
  return kNotReached;
}

}  // namespace bregmax::app
