#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "bregmax/core/atomic_file.hpp"
#include "commands/commands.hpp"
#include "paper/summary.hpp"
#include "pictures/pictures.hpp"
#include "pictures/png.hpp"
#include "progress.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kReproduceExamples = R"(
Examples:
  bregmax reproduce table2 --methods pbdl --runs 10 --data-dir downloads
  bregmax reproduce table1 --datasets iris,wine --methods pbdl,itml,euclidean --runs 20
  bregmax reproduce table2 --report-only --json
  bregmax reproduce figure2 --runs 5 --out pictures

Finished runs are kept in DIR/table-runs.csv and DIR/figure2-runs.csv, and the same command continues after them. Both
tables are made of the same runs. Ctrl-C ends it early with exit code 1 and reports the runs that are there.)";

constexpr int kRunsOfTables = 100, kRunsOfFigure2 = 50;  // in the paper
constexpr double kDotsPerPixel = 2.5;                    // 300 dots per inch when 120 pixels are printed on an inch

struct ReproduceRequest {
  std::string what;
  std::string out = "reproduction";
  std::string datasets = "all", methods = "all";
  std::string data_dir;
  std::optional<KMeansStart> start;  // nullopt: that of each row
  bool one_model = false;            // --choice
  int runs = 0;                      // 0: as many as the paper made
  int first = 0, threads = 0;
  std::uint64_t seed = 0;
  bool report_only = false, json = false;

  std::string path(const std::string& name) const { return (std::filesystem::path(out) / name).string(); }
  int runs_or(int standard) const { return runs == 0 ? standard : runs; }
};

// "a,b" as a and b.
std::vector<std::string> names_in(const std::string& option, const std::string& text) {
  const std::vector<std::string> names = internal::split_at_commas(text);
  for (const std::string& name : names) {
    require(!name.empty(), "{} is '{}'; allowed: names with commas between them", option, text);
    require(std::count(names.begin(), names.end(), name) <= 1, "{} has '{}' more than once", option, name);
  }
  return names;
}

void make_output_folder(const ReproduceRequest& request) {
  std::error_code error;
  std::filesystem::create_directories(request.out, error);
  require(!error, "--out: cannot make the folder {}: {}", request.out, error.message());
}

// Makes the runs that the file does not have yet, unless only a report is wanted.
WorkOutcome make_runs(const ReproduceRequest& request, const std::string& path, const ResultsFormat& format,
                      const std::function<std::vector<Job>(const ResultsFile&)>& missing) {
  if (request.report_only) return {};
  make_output_folder(request);
  ResultsFile results(path, format);
  return run_with_progress(
      [&](const RunControl& control) { return run_jobs(missing(results), results, request.threads, control); });
}

// The rows of a table: the paper's, in its order, then our own.
std::vector<ProtocolRow> rows_of(const PaperTable& table, const std::string& methods) {
  const bool all = methods == "all" || methods == "paper";
  std::vector<ProtocolRow> rows;
  for (const std::string& name : all ? table.methods : names_in("--methods", methods))
    rows.push_back(protocol_row(name));
  for (const ProtocolRow& row : protocol_rows()) {
    if (row.of != ProtocolRow::Of::kPaper && methods == "all") rows.push_back(row);
  }
  return rows;
}

// Names that the paper does not have are refused even if nothing is run.
std::vector<NamedTable> read_datasets(const std::vector<std::string>& names, const ReproduceRequest& request) {
  std::vector<NamedTable> datasets;
  for (const std::string& name : names) {
    std::optional<NamedTable> found = find_dataset(name, request.data_dir);
    if (found) {
      datasets.push_back(std::move(*found));
    } else if (!request.report_only) {
      say("bregmax: " + how_to_get(name, request.data_dir));
    }
  }
  require(request.report_only || !datasets.empty(),
          "no dataset is left to run; --data-dir names the folder with the files");
  return datasets;
}

ExitCode reproduce_table(const ReproduceRequest& request) {
  const PaperTable& table = paper_table(request.what);
  TablePlan plan;
  plan.rows = rows_of(table, request.methods);
  plan.first = request.first;
  plan.runs = request.runs_or(kRunsOfTables);
  plan.start = request.start;
  plan.seed = request.seed;
  SummaryRequest wanted;
  wanted.datasets = request.datasets == "all" ? table.datasets : names_in("--datasets", request.datasets);
  for (const ProtocolRow& row : plan.rows) wanted.rows.push_back(row.name);
  wanted.start = plan.start;
  wanted.one_model = request.one_model;
  wanted.first = plan.first;
  wanted.runs = plan.runs;
  plan.datasets = read_datasets(wanted.datasets, request);

  const std::string path = request.path("table-runs.csv");
  const WorkOutcome outcome = make_runs(request, path, table_format(plan.seed),
                                        [&](const ResultsFile& results) { return missing_jobs(plan, results); });
  // Read from the file, so that the table is the one that any later report gives.
  const TableSummary summary = summarise(table, table_runs(read_results(path, table_format(plan.seed))), wanted);
  const std::string json = summary_as_json(summary);
  write_file_atomically(request.path(table.name + ".md"), summary_as_markdown(summary));
  write_file_atomically(request.path(table.name + "-times.md"), times_as_markdown(summary));
  write_file_atomically(request.path(table.name + ".csv"), summary_as_csv(summary));
  write_file_atomically(request.path(table.name + ".json"), json);
  print(request.json ? json : summary_as_text(summary));
  if (!outcome.stopped) return kDone;
  return report_interrupt(fmt::format("; {} jobs are left, and the same command continues", outcome.left));
}

void write_figure(const ReproduceRequest& request, const std::string& svg) {
  write_picture(request.path(request.what + ".svg"), svg);
  if (can_draw_png()) {
    write_picture(request.path(request.what + ".png"), svg, kDotsPerPixel);
  } else {
    say("bregmax: no PNG is written, because the program was built without librsvg; the SVG file is complete");
  }
}

void refuse_table_options(const ReproduceRequest& request) {
  const auto refuse = [&](bool given, const char* option) {
    require(!given, "{} does not go with {}; it is an option of the tables", option, request.what);
  };
  refuse(request.methods != "all", "--methods");
  refuse(!request.data_dir.empty(), "--data-dir");
  refuse(request.start.has_value(), "--start");
  refuse(request.one_model, "--choice");
}

ExitCode reproduce_figure1(const ReproduceRequest& request) {
  refuse_table_options(request);
  require(request.datasets == "all" && request.runs == 0 && request.first == 0 && !request.report_only,
          "--datasets, --runs, --first and --report-only do not go with figure1, which is one fit");
  make_output_folder(request);
  const Figure1 figure =
      run_with_progress([&](const RunControl& control) { return compute_figure1(request.seed, control); });
  if (figure.stopped) return report_interrupt("; nothing was written");
  write_file_atomically(request.path("figure1-quadratic.csv"), quadratic_as_csv(figure.quadratic));
  write_file_atomically(request.path("figure1-circle.csv"), circle_as_csv(figure));
  write_figure(request, draw_figure1(figure));
  print(request.json ? figure1_as_json(figure) : figure1_as_text(figure));
  return kDone;
}

ExitCode reproduce_figure2(const ReproduceRequest& request) {
  refuse_table_options(request);
  Figure2Plan plan;
  plan.seed = request.seed;
  plan.first = request.first;
  plan.runs = request.runs_or(kRunsOfFigure2);
  if (request.datasets == "all") {
    for (const RegressionProblem& problem : regression_problems()) plan.problems.push_back(problem.name);
  } else {
    plan.problems = names_in("--datasets", request.datasets);
    for (const std::string& name : plan.problems) regression_problem(name);
  }
  const std::string path = request.path("figure2-runs.csv");
  const WorkOutcome outcome = make_runs(request, path, figure2_format(plan.seed), [&](const ResultsFile& results) {
    return missing_figure2_jobs(plan, results);
  });
  const auto curves = error_curves(read_results(path, figure2_format(plan.seed)), plan);
  write_file_atomically(request.path("figure2.csv"), curves_as_csv(curves));
  write_figure(request, draw_figure2(curves));
  print(request.json ? curves_as_json(curves) : curves_as_text(curves));
  return outcome.stopped ? report_interrupt("; the same command continues") : kDone;
}

ExitCode run_reproduce(const ReproduceRequest& request) {
  if (request.what == "figure1") return reproduce_figure1(request);
  if (request.what == "figure2") return reproduce_figure2(request);
  return reproduce_table(request);
}

}  // namespace

void add_reproduce(CLI::App& program, Action& chosen) {
  using enum KMeansStart;
  auto [options, request] =
      add_command(program, {"reproduce", "the tables and figures of the paper, computed again", kReproduceExamples},
                  run_reproduce, chosen);
  options
      .choice("WHAT", request->what, {"table1", "table2", "figure1", "figure2"},
              "what to compute: table1, table2, figure1 or figure2")
      ->required();
  options.text("--out", request->out, "DIR", "folder of the results; made if it does not exist");
  options.text("--datasets", request->datasets, "NAMES",
               "datasets of a table, or divergences of figure2: names with commas between them, or all");
  options.text("--methods", request->methods, "NAMES",
               "rows of a table: names with commas between them, all, or paper (its methods only)");
  options.whole("--runs", request->runs, "R", {0, 100'000},
                "random splits of a table, draws of figure2; 0: as in the paper, 100 and 50");
  options.whole("--first", request->first, "N", {0, 1'000'000}, "number of the first of these runs");
  options.text("--data-dir", request->data_dir, "DIR", "folder of datasets that are not built in (transfusion.csv)");
  options.choice(
      "--start", request->start,
      {{"auto", std::nullopt}, {to_string(kEuclidean), kEuclidean}, {to_string(kDivergence), kDivergence}},
      "start of k-means; auto: Euclidean k-means as in the paper, in the divergence for the rows 'defaults', 'smooth', "
      "'deep' and 'auto'");
  options.choice("--choice", request->one_model, {{"per-measure", false}, {"one-model", true}},
                 "per-measure: each column by the model tuned for it, as in the paper; one-model: all by the one tuned "
                 "for average precision");
  options.flag("--report-only", request->report_only, "make no runs: report those that are there");
  options.seed(request->seed, "seed of the splits and of everything else that is random");
  options.threads(request->threads);
  options.json(request->json);
}

}  // namespace bregmax::app
