#include "commands/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "bregmax/core/error.hpp"
#include "options/options.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  bregmax reproduce table2 --methods pbdl --runs 10 --data-dir downloads
  bregmax reproduce table1 --datasets iris,wine --methods pbdl,itml,euclidean --runs 20
  bregmax reproduce table2 --report-only --json
  bregmax reproduce figure2 --runs 5 --out pictures

Finished runs are kept in DIR/table-runs.csv and DIR/figure2-runs.csv; a command continues where it was ended,
and both tables are made of the same runs. Ctrl-C ends it early with exit code 1, with what is there so far.)";

ExitCode run_reproduce(const ReproduceRequest& request) {
  if (request.what == "figure1") return reproduce_figure1(request);
  if (request.what == "figure2") return reproduce_figure2(request);
  return reproduce_table(request);
}

}  // namespace

std::vector<std::string> names_in(const std::string& option, const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  for (const std::string& name : names) {
    if (name.empty()) throw Error(fmt::format("{} is '{}'; allowed: names with commas between them", option, text));
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw Error(fmt::format("{} has '{}' more than once", option, name));
    }
  }
  return names;
}

void make_output_folder(const ReproduceRequest& request) {
  std::error_code error;
  std::filesystem::create_directories(request.out, error);
  if (error) throw Error(fmt::format("--out: cannot make the folder {}: {}", request.out, error.message()));
}

void add_reproduce(CLI::App& program, Action& chosen) {
  CLI::App* command = program.add_subcommand("reproduce", "the tables and figures of the paper, computed anew");
  command->footer(kExamples);
  const auto request = std::make_shared<ReproduceRequest>();
  OptionAdder options(*command);
  options
      .choice("WHAT", request->what, {"table1", "table2", "figure1", "figure2"},
              "what to compute: table1, table2, figure1 or figure2")
      ->required();
  options.text("--out", request->out, "DIR", "folder of the results; made if it is not there");
  options.text("--datasets", request->datasets, "NAMES",
               "of a table, or divergences of figure2: names with commas between them, or all");
  options.text("--methods", request->methods, "NAMES",
               "rows of a table: names with commas between them, all, or paper (its methods only)");
  options.whole("--runs", request->runs, "R", {0, 100'000},
                "random splits of a table, 0: 100; draws of figure2, 0: 50: as in the paper");
  options.whole("--first", request->first, "N", {0, 1'000'000}, "number of the first of these runs");
  options.text("--data-dir", request->data_dir, "DIR", "folder of datasets that are not built in (transfusion.csv)");
  options.choice("--start", request->start, {"auto", "euclidean", "divergence"},
                 "of k-means; auto: Euclidean k-means as in the paper, in the divergence for the row 'defaults'");
  options.choice("--choice", request->choice, {"per-measure", "one-model"},
                 "per-measure: each column by the model tuned for it, as in the paper; one-model: all by the one tuned "
                 "for average precision");
  options.flag("--report-only", request->report_only, "make no runs: report those that are there");
  options.seed(request->seed, "of the splits and all else");
  options.threads(request->threads);
  options.json(request->json);
  command->callback([request, &chosen] { chosen = [request] { return run_reproduce(*request); }; });
}

}  // namespace bregmax::app
