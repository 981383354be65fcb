#include "bregmax/learn/compare.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "commands/commands.hpp"
#include "learn/as_json.hpp"
#include "options/supervision_files.hpp"
#include "progress.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kCompareExamples = R"(
Examples:
  bregmax compare builtin:wine
  bregmax compare people.csv --methods smooth,itml,lmnn --out people-methods.csv
  bregmax compare builtin:iris --methods all --repeats 3 --json
  bregmax compare shapes.csv --label none --comparisons-file judgements.csv

Nested cross-validation: on each fold every method chooses its settings within the training part, and is then scored on
the rows or items that are held out, which no choice has seen. The Euclidean distance is always in the table.
With --out finished runs are kept, and the same command goes on after them. Ctrl-C ends it early with exit code 1 and
prints what is finished.)";

struct CompareCommand {
  std::string data;
  TableOptions layout;
  SupervisionFiles files;
  CompareRequest request;
  std::string out;
  int threads = 0;  // 0: all
  bool json = false;
};

MethodSupervision supervision_of(const CompareCommand& compare, const Table& table) {
  if (auto items = read_supervision(compare.files, table)) return *std::move(items);
  require(table.labels.has_value(),
          "{}: nothing to learn from: there is no label column (--label NAME names one); give --comparisons-file, "
          "--pairs-file or --targets-file",
          table.source);
  return table.labels->of_row;
}

std::string supervision_text(const CompareCommand& compare, const Table& table, const TrainingData& data) {
  const std::string rows = fmt::format("{}: {}, {}", compare.data, count_of(table.features.rows(), "row"),
                                       count_of(table.features.cols(), "feature"));
  if (data.labelled()) return fmt::format("{}, {}", rows, count_of(table.labels->classes(), "class", "classes"));
  const std::string kind = supervision_name(data.supervision);  // a plural: pairs
  return fmt::format("{}, {}", rows, count_of(item_count(data.supervision), kind.substr(0, kind.size() - 1)));
}

void say_comparison_plan(const ComparePlan& planned, const CompareCommand& compare) {
  for (const std::string& note : planned.notes) say("bregmax: " + note);
  std::string text = planned.summary(omp_get_max_threads());
  if (std::filesystem::exists(compare.out)) text += fmt::format("runs that {} has are not made again\n", compare.out);
  text.pop_back();
  say(text);
}

Json compare_as_json(const CompareCommand& compare, const Table& table, const TrainingData& data,
                     const ComparePlan& planned, const MethodTable& comparison) {
  Json json = internal::method_table_as_json(planned, comparison);
  json.update(
      {{"data", compare.data},
       {"n", table.features.rows()},
       {"d", table.features.cols()},
       {"supervision", supervision_name(data.supervision)},
       {"directed", std::holds_alternative<Pairs>(data.supervision) ? Json(compare.files.directed) : Json(nullptr)},
       {"out", compare.out.empty() ? Json(nullptr) : Json(compare.out)}});
  return json;
}

ExitCode run_compare(const CompareCommand& compare) {
  std::vector<NamedFile> inputs = input_files(compare.files);
  inputs.push_back({"DATA", compare.data});
  check_outputs({{"--out", compare.out}}, inputs);
  const Table table = read_table(compare.data, compare.layout);
  check_row_numbers(table, compare.files.path());
  check_sizes(table);
  CompareRequest request = compare.request;
  request.names = {"--", {{"scales", "scale"}}};
  request.directed_pairs = compare.files.directed;
  if (table.labels) request.names.labels = fmt::format("{}: column {}", table.source, table.labels->column);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of ours changes it
  if (const char* text = std::getenv(kThresholdsVariable)) request.thresholds = parse_thresholds(text);
  const TrainingData data{table.features, supervision_of(compare, table)};
  ComparePlan planned = plan_comparison(request, data);
  planned.results_file = compare.out;
  check_results_file(planned, data);
  say_data(table, !compare.json);
  if (!compare.json) say_comparison_plan(planned, compare);
  const MethodTable comparison =
      run_with_progress([&](const RunControl& control) { return bregmax::compare(planned, data, 0, control); });
  print_report(compare.json, compare_as_json(compare, table, data, planned, comparison),
               supervision_text(compare, table, data) + "\n\n" + comparison.to_text());
  if (comparison.status == Status::kOptimal) return kDone;
  const std::string left = fmt::format("; {} of {} runs are missing{}", comparison.runs - comparison.done,
                                       comparison.runs, compare.out.empty() ? "" : ", and the same command goes on");
  if (comparison.status == Status::kStopped) return report_interrupt(left);
  say("bregmax: the time limit was reached" + left);
  return kNotReached;
}

}  // namespace

void add_compare(CLI::App& program, Action& chosen) {
  auto [options, compare] =
      add_command(program, {"compare", "which method is good for the data: a cross-validated table", kCompareExamples},
                  run_compare, chosen);
  CompareRequest& request = compare->request;
  options.text("DATA", compare->data, "", "CSV, .npy or builtin:NAME")->required();
  options.label(compare->layout.label);
  options.learning(compare->layout);
  add_supervision_files(options, compare->files);
  const auto methods = [&request](const std::string& given) { request.methods = internal::split_at_commas(given); };
  options.add(
      "--methods", methods,
      "names that bregmax methods prints, or auto (what fit takes by default; it adds the methods that it chooses "
      "from); the Euclidean distance is always compared; all: all that can learn from the supervision [names with "
      "commas between them, or all]",
      "LIST", "all that are not predicted to take long, and auto");
  options
      .choice("--scale", request.scales,
              {{"none", scales_named("none")}, {"standard", scales_named("standard")}, {"auto", scales_named("auto")}},
              "standard: features get mean 0 and standard deviation 1; auto: each method chooses the better of the two")
      ->default_str("standard");
  std::vector<std::pair<std::string, std::optional<Measure>>> measures;
  measures.reserve(kAllMeasures.size());
  for (const Measure measure : kAllMeasures) {
    if (measure != Measure::kR2) measures.emplace_back(to_string(measure), measure);
  }
  options
      .choice("--tune-for", request.tune_for, measures,
              "the score by which each method chooses its settings within the training part")
      ->default_str("average_precision; files: agreement; targets: loss");
  options
      .whole("--folds", request.folds, "N", {2, 1000},
             "on which methods are scored, stratified by class; fewer where a class is too small for so many")
      ->default_str("5; supervision files: up to 10");
  options.whole("--repeats", request.repeats, "R", {1, 1000},
                "cross-validations from labels, each with folds of its own");
  options.whole("--rows", request.rows, "N", {0, 1'000'000'000},
                "of larger tables with labels this many rows are used, drawn at random; 0: all");
  options.number("--time-limit", request.time_limit, "S", at_least_zero(),
                 "limit on the time of everything together in seconds; 0 is none", {{"none", 0.0}});
  options.threads(compare->threads);
  options.seed(request.seed, "of the folds and of everything else that is random");
  options.text("--out", compare->out, "F", "keep finished runs in this CSV file, a line per method and fold");
  options.json(compare->json);
}

}  // namespace bregmax::app
