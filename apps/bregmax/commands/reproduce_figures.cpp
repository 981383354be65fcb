#include <fmt/format.h>

#include <filesystem>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "commands/reproduce.hpp"
#include "pictures/figure_pictures.hpp"
#include "pictures/png.hpp"
#include "reports/output.hpp"
#include "reports/run.hpp"

namespace bregmax::app {
namespace {

constexpr int kRunsOfFigure2 = 50;
constexpr double kDotsPerPixel = 2.5;  // 300 dots per inch when 120 pixels are printed on an inch

std::string path_in(const ReproduceRequest& request, const std::string& name) {
  return (std::filesystem::path(request.out) / name).string();
}

void write_figure(const ReproduceRequest& request, const std::string& svg) {
  write_picture(path_in(request, request.what + ".svg"), svg);
  if (can_draw_png()) {
    write_picture(path_in(request, request.what + ".png"), svg, kDotsPerPixel);
  } else {
    say("bregmax: no PNG is written, since the program was built without librsvg; the SVG file is complete");
  }
}

ExitCode report_stop() {
  say("bregmax: stopped by an interrupt; the same command continues");
  return kNotReached;
}

// The options that only tables have.
void refuse_table_options(const ReproduceRequest& request) {
  const auto refuse = [&](bool given, const char* option) {
    if (given) throw Error(fmt::format("{} does not go with {}; it is an option of the tables", option, request.what));
  };
  refuse(request.methods != "all", "--methods");
  refuse(!request.data_dir.empty(), "--data-dir");
  refuse(request.start != "auto", "--start");
  refuse(request.choice != "per-measure", "--choice");
}

}  // namespace

ExitCode reproduce_figure1(const ReproduceRequest& request) {
  const Interrupt interrupt;
  refuse_table_options(request);
  if (request.datasets != "all" || request.runs != 0 || request.first != 0 || request.report_only) {
    throw Error("--datasets, --runs, --first and --report-only do not go with figure1, which is one fit");
  }
  make_output_folder(request);
  const ThreadLimit limit(static_cast<int>(request.threads));
  ProgressLine progress;
  const Figure1 figure = compute_figure1(request.seed, progress.control());
  progress.clear();
  if (figure.stopped) return report_stop();
  write_file_atomically(path_in(request, "figure1-quadratic.csv"), quadratic_as_csv(figure.quadratic));
  write_file_atomically(path_in(request, "figure1-circle.csv"), circle_as_csv(figure));
  write_figure(request, draw_figure1(figure));
  print(request.json ? figure1_as_json(figure) : figure1_as_text(figure));
  return kDone;
}

ExitCode reproduce_figure2(const ReproduceRequest& request) {
  const Interrupt interrupt;
  refuse_table_options(request);
  Figure2Plan plan;
  plan.seed = request.seed;
  plan.first = static_cast<int>(request.first);
  plan.runs = request.runs == 0 ? kRunsOfFigure2 : static_cast<int>(request.runs);
  if (request.datasets == "all") {
    for (const RegressionProblem& problem : regression_problems()) plan.problems.push_back(problem.name);
  } else {
    plan.problems = names_in("--datasets", request.datasets);
    for (const std::string& name : plan.problems) regression_problem(name);
  }
  const std::string path = path_in(request, "figure2-runs.csv");
  WorkOutcome outcome;
  if (!request.report_only) {
    make_output_folder(request);
    const ThreadLimit limit(static_cast<int>(request.threads));
    ResultsFile results(path, figure2_format(plan.seed));
    ProgressLine progress;
    outcome =
        run_jobs(missing_figure2_jobs(plan, results), results, static_cast<int>(request.threads), progress.control());
    progress.clear();
  }
  const auto curves = error_curves(read_results(path, figure2_format(plan.seed)), plan);
  write_file_atomically(path_in(request, "figure2.csv"), curves_as_csv(curves));
  write_figure(request, draw_figure2(curves));
  print(request.json ? curves_as_json(curves) : curves_as_text(curves));
  return outcome.stopped ? report_stop() : kDone;
}

}  // namespace bregmax::app
