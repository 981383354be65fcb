// The paper's Table 2: random two thirds to learn from, one third to score on, hyperparameters chosen inside the
// training part. Results are appended to a file run by run, so that the work can be done in pieces and resumed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "accuracy_reference.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/data/table.hpp"
#include "bregmax/learn/auto_fit.hpp"
#include "bregmax/learn/method_tuning.hpp"

namespace bregmax::accuracy {
namespace {

constexpr std::array<Measure, 5> kScored = {Measure::kRandIndex, Measure::kPurity, Measure::kAuc,
                                            Measure::kAveragePrecision, Measure::kKnn};

struct Request {
  std::string out = "accuracy.csv", protocol = "defaults", label, transfusion = "transfusion.csv";
  std::string method = "pbdl";
  std::vector<std::string> datasets = {"iris", "wine", "balance-scale", "transfusion", "ionosphere", "figure1"};
  int runs = 20, first = 0, threads = 0;
  bool summary = false;
  std::string dump;
  // For experiments; empty: as the protocol has it.
  std::string scales, supervision, start;
  std::vector<double> temperatures, lambdas;
  int folds = 0;
  Index comparisons = 0, neighbours = 0;
  double tuning_tolerance = 0, proof_tolerance = 0;
};

AutoFitOptions paper_protocol() {
  AutoFitOptions options;
  options.scales = {Scale::kNone};
  options.temperatures = {0};
  options.supervision = {{LabelSupervision::kComparisons, 2000, 3, 0}};
  return options;
}

std::vector<std::string> split_text(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

LabelSupervisionOptions supervision_named(const std::string& name, const Request& request) {
  LabelSupervisionOptions options;
  if (request.comparisons > 0) options.comparisons = request.comparisons;
  if (request.neighbours > 0) options.neighbours = request.neighbours;
  for (const LabelSupervision kind :
       {LabelSupervision::kComparisons, LabelSupervision::kHardComparisons, LabelSupervision::kAllPairs}) {
    if (name == to_string(kind)) {
      options.kind = kind;
      return options;
    }
  }
  throw Error(fmt::format("--supervision is {}; allowed: comparisons, hard_comparisons, all_pairs", name));
}

AutoFitOptions options_of(const Request& request, Index rows) {
  AutoFitOptions options;
  if (request.protocol == "paper") {
    options = paper_protocol();
  } else if (request.protocol == "defaults") {
    options = recommended_options(rows);
  } else {
    throw Error(fmt::format("--protocol is {}; allowed: paper, defaults", request.protocol));
  }
  if (!request.scales.empty()) {
    options.scales.clear();
    for (const auto& name : split_text(request.scales)) {
      options.scales.push_back(name == "none" ? Scale::kNone : Scale::kStandard);
    }
  }
  if (!request.supervision.empty()) {
    options.supervision.clear();
    for (const auto& name : split_text(request.supervision)) {
      options.supervision.push_back(supervision_named(name, request));
    }
  }
  if (!request.temperatures.empty()) options.temperatures = request.temperatures;
  if (!request.lambdas.empty()) options.lambdas = request.lambdas;
  if (request.folds > 0) options.folds = request.folds;
  if (request.tuning_tolerance > 0) options.tuning_tolerance = request.tuning_tolerance;
  if (request.proof_tolerance > 0) options.proof_tolerance = request.proof_tolerance;
  if (request.start == "divergence") options.evaluation.start = KMeansStart::kDivergence;
  if (request.start == "euclidean") options.evaluation.start = KMeansStart::kEuclidean;
  return options;
}

std::string name_of(const Request& request) {
  if (!request.label.empty()) return request.label;
  return request.method == "pbdl" ? request.protocol : request.method;
}

// "label,dataset,run" of the lines that are there already.
std::set<std::string> done_runs(const std::string& path) {
  std::set<std::string> done;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto parts = split_text(line);
    if (parts.size() > 3) done.insert(fmt::format("{},{},{}", parts[0], parts[1], parts[2]));
  }
  return done;
}

std::array<double, 5> test_scores(const Model& model, const Table& train, const Table& test,
                                  const EvaluationOptions& evaluation) {
  const EvaluationScores s = evaluate(*model.divergence, model.scaling.apply(test.features), test.labels->of_row,
                                      model.scaling.apply(train.features), train.labels->of_row, evaluation);
  return {s.rand_index, s.purity, s.auc, s.average_precision, s.knn_accuracy};
}

std::string settings_text(const Settings& settings) {
  std::string text;
  for (const Setting& one : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.name,
                        one.word.empty() ? fmt::format("{:g}", one.value) : one.word);
  }
  return text;
}

// The fit of a candidate on the whole training part.
Model fit_candidate(const Table& train, const AutoFitOptions& options, const Settings& settings) {
  AutoFitOptions single = options;
  for (const Setting& one : settings) {
    if (one.name == "lambda") single.lambdas = {one.value};
    if (one.name == "smoothing") single.temperatures = {one.value};
    if (one.name == "scale") single.scales = {one.word == "none" ? Scale::kNone : Scale::kStandard};
    if (one.name == "pieces") single.pieces = {one.word == "all" ? 0 : static_cast<int>(one.value)};
    if (one.name == "supervision") {
      std::erase_if(single.supervision, [&](const auto& kind) { return to_string(kind.kind) != one.word; });
    }
  }
  return fit_from_labels(train.features, train.labels->of_row, single).fit.model;
}

// Every candidate's scores in cross-validation beside those on the test part: what another way to choose would give.
void dump_candidates(const Request& request, const std::string& dataset, const Table& table, int run) {
  Random random(static_cast<std::uint64_t>(run));
  const Split split = random_split(table.features.rows(), 2.0 / 3, random);
  const Table train = select_rows(table, split.train), test = select_rows(table, split.test);
  AutoFitOptions options = options_of(request, train.features.rows());
  for (LabelSupervisionOptions& one : options.supervision) one.seed = static_cast<std::uint64_t>(run);
  const std::vector<int>& classes = train.labels->of_row;
  const CandidateFamilies families = families_from_labels(train.features, classes, options);
  const TuneOptions tune_options{options.tune_for, options.evaluation, 0, 0};
  const int folds = usable_folds(classes, options.folds);
  const auto begin = std::chrono::steady_clock::now();
  const TuneResult cross =
      tune(folds_of_rows(train.features, classes, folds, static_cast<std::uint64_t>(run)), families, tune_options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Fold whole;
  whole.train_rows = train.features;
  whole.train_classes = classes;
  whole.held_out_rows = whole.loss_rows = test.features;
  whole.held_out_classes = test.labels->of_row;
  whole.loss_items = Comparisons{};
  const TuneResult outer = tune({whole}, families, tune_options);
  std::ofstream file(request.dump, std::ios::app);
  for (std::size_t c = 0; c < cross.record.candidates.size(); ++c) {
    std::string line = fmt::format("{},{},{},{},{}", name_of(request), dataset, run,
                                   settings_text(cross.record.candidates[c]), cross.constant[c] ? 1 : 0);
    for (Index m = 0; m < 6; ++m) {
      const auto row = static_cast<Index>(c);
      line += fmt::format(",{:.5f},{:.5f},{:.5f}", cross.record.means(row, m), cross.record.standard_errors(row, m),
                          outer.record.means(row, m));
    }
    file << line << '\n';
  }
  fmt::print("{} {} run {}: {:.1f} s, {} solved {} proved {} unproved; whole: {:.1f} s, {} solved {} proved\n",
             name_of(request), dataset, run, seconds, cross.record.solved, cross.record.proved, cross.record.unproved,
             outer.record.seconds, outer.record.solved, outer.record.proved);
  std::fflush(stdout);
}

// What one split of the rows gave: the model that was tuned for average precision, and how to learn another candidate.
struct TunedSplit {
  Model model;
  TuneResult tuning;
  EvaluationOptions evaluation;
  std::function<Model(const Settings&)> fit;
};

TunedSplit tune_pbdl(const Request& request, const Table& train, std::uint64_t seed) {
  AutoFitOptions options = options_of(request, train.features.rows());
  options.fit.seed = seed;
  for (LabelSupervisionOptions& one : options.supervision) one.seed = seed;
  AutoFitResult result = fit_from_labels(train.features, train.labels->of_row, options);
  const auto fit = [&train, options](const Settings& settings) { return fit_candidate(train, options, settings); };
  return {std::move(result.fit.model), std::move(result.tuning), options.evaluation, fit};
}

// A classical method: what it calls tuned, on its grid; raw features under the paper's protocol.
TunedSplit tune_method(const Request& request, const Table& train, std::uint64_t seed) {
  const BaselineMethod& method = baseline_method(request.method);
  MethodFitOptions options;
  if (request.protocol == "defaults") options = recommended_method_options(train.features.rows());
  if (request.protocol == "paper") options.scales = {Scale::kNone};
  if (request.scales == "none") options.scales = {Scale::kNone};
  if (request.folds > 0) options.folds = request.folds;
  if (request.start == "divergence") options.evaluation.start = KMeansStart::kDivergence;
  options.settings.seed = seed;
  MethodFitResult result = fit_method_from_labels(method, train.features, train.labels->of_row, options);
  const auto fit = [&train, &method, options](const Settings& settings) {
    MethodFitOptions single = options;
    for (const Setting& one : settings) {
      if (one.name == "scale") single.scales = {one.word == "none" ? Scale::kNone : Scale::kStandard};
      if (one.name != "scale") single.settings.parameters[one.name] = one.value;
    }
    return fit_method_from_labels(method, train.features, train.labels->of_row, single).fit.model;
  };
  return {std::move(result.fit.model), std::move(result.tuning), options.evaluation, fit};
}

// Lines: `one_model` tuned for average precision, and `per_measure`, each cell by the model tuned for its measure.
std::vector<std::string> run_once(const Request& request, const std::string& dataset, const Table& table, int run) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seed = static_cast<std::uint64_t>(run);
  Random random(seed);
  const Split split = random_split(table.features.rows(), 2.0 / 3, random);
  const Table train = select_rows(table, split.train), test = select_rows(table, split.test);
  const TunedSplit tuned =
      request.method == "pbdl" ? tune_pbdl(request, train, seed) : tune_method(request, train, seed);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const TuningRecord& record = tuned.tuning.record;

  const std::array<double, 5> one_model = test_scores(tuned.model, train, test, tuned.evaluation);
  const auto line = [&](const char* kind, const std::array<double, 5>& scores, const std::string& note) {
    return fmt::format("{},{},{},{},{:.5f},{},{},{:.2f},{}", name_of(request), dataset, run, kind,
                       fmt::join(scores, ","), record.solved, record.proved, seconds, note);
  };
  if (record.empty())
    return {line("one_model", one_model, "nothing to tune"), line("per_measure", one_model, "the same")};
  std::map<Index, std::array<double, 5>> of_candidate;
  std::array<double, 5> per_measure{};
  std::vector<std::string> chosen;
  for (std::size_t m = 0; m < kScored.size(); ++m) {
    const Index best = best_candidate(tuned.tuning, kScored[m]);
    const Settings& settings = record.candidates[static_cast<std::size_t>(best)];
    if (best == record.chosen) of_candidate[best] = one_model;
    if (!of_candidate.contains(best)) {
      of_candidate[best] = test_scores(tuned.fit(settings), train, test, tuned.evaluation);
    }
    per_measure[m] = of_candidate[best][m];
    chosen.push_back(settings_text(settings));
  }
  const std::string own = settings_text(record.candidates[static_cast<std::size_t>(record.chosen)]) +
                          (tuned.model.record.constant ? " CONSTANT" : "");
  return {line("one_model", one_model, own),
          line("per_measure", per_measure, fmt::format("{}", fmt::join(chosen, "; ")))};
}

void run_all(const Request& request) {
  std::set<std::string> done = done_runs(request.out);
  for (int run = request.first; run < request.first + request.runs; ++run) {
    for (const std::string& dataset : request.datasets) {
      if (done.contains(fmt::format("{},{},{}", name_of(request), dataset, run))) continue;
      const Table table = read_table(dataset == "transfusion" ? request.transfusion : "builtin:" + dataset);
      if (!request.dump.empty()) {
        dump_candidates(request, dataset, table, run);
        continue;
      }
      const std::vector<std::string> lines = run_once(request, dataset, table, run);
      std::ofstream file(request.out, std::ios::app);
      for (const std::string& line : lines) {
        file << line << '\n';
        fmt::print("{}\n", line);
      }
      std::fflush(stdout);
      if (!file.flush()) throw Error(fmt::format("cannot write {}", request.out));
    }
  }
}

struct Cell {
  std::vector<double> values;
  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return 100 * sum / static_cast<double>(values.size());
  }
  double half_width() const {
    double squares = 0;
    for (const double value : values) squares += std::pow(100 * value - mean(), 2);
    const auto count = static_cast<double>(values.size());
    return count < 2 ? 0 : 1.96 * std::sqrt(squares / (count - 1) / count);
  }
};

// label -> kind -> dataset -> cells
using Cells = std::map<std::string, std::map<std::string, std::map<std::string, std::array<Cell, 5>>>>;

Cells read_cells(const std::string& path) {
  Cells cells;
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("cannot open {}", path));
  for (std::string line; std::getline(file, line);) {
    const auto parts = split_text(line);
    if (parts.size() < 9) throw Error(fmt::format("{}: a line has {} fields", path, parts.size()));
    for (std::size_t m = 0; m < 5; ++m) {
      cells[parts[0]][parts[3]][parts[1]][m].values.push_back(std::stod(parts[4 + m]));
    }
  }
  return cells;
}

void print_table(const std::string& title, const std::map<std::string, std::array<Cell, 5>>& datasets) {
  fmt::print("\n{}\n{:<14} {:>4}  {:>13} {:>13} {:>13} {:>13} {:>13}   (mean, 95% half width, less paper, less best)\n",
             title, "dataset", "runs", "Rand index", "purity", "AUC", "avg. prec.", "5-NN");
  double gain = 0, lowest = 1e9;
  int cells = 0, best_cells = 0;
  for (const auto& [dataset, row] : datasets) {
    const Reference& reference = reference_of(dataset);
    fmt::print("{:<14} {:>4}", dataset, row[0].values.size());
    for (const Cell& cell : row) fmt::print("  {:>6.2f} ±{:>4.2f}", cell.mean(), cell.half_width());
    std::string less_paper, less_best;
    for (std::size_t m = 0; m < 5; ++m) {
      const double over = row[m].mean() - reference.paper[m];
      less_paper += fmt::format("  {:>+12.2f}", over);
      less_best += fmt::format("  {:>+12.2f}", row[m].mean() - reference.best[m]);
      gain += over;
      lowest = std::min(lowest, over);
      ++cells;
      if (row[m].mean() + row[m].half_width() >= reference.best[m]) ++best_cells;
    }
    fmt::print("\n{:<19}{}\n{:<19}{}\n", "  less paper", less_paper, "  less best known", less_best);
  }
  fmt::print("{} cells: mean over the paper {:+.2f}, lowest {:+.2f}, best known or within the interval in {}\n", cells,
             gain / cells, lowest, best_cells);
}

// A row of the paper's baselines: within the sum of both 95% intervals plus two points?
void print_against_row(const std::string& dataset, const std::array<Cell, 5>& row, const PaperRow& paper) {
  constexpr double kAllowance = 2;
  fmt::print("{:<14} {:>4}", dataset, row[0].values.size());
  for (const Cell& cell : row) fmt::print("  {:>6.2f} ±{:>4.2f}", cell.mean(), cell.half_width());
  fmt::print("\n{:<19}", "  paper");
  for (std::size_t m = 0; m < 5; ++m) fmt::print("  {:>6.2f} ±{:>4.2f}", paper.mean[m], paper.half_width[m]);
  fmt::print("\n{:<19}", "  difference");
  for (std::size_t m = 0; m < 5; ++m) {
    const double over = row[m].mean() - paper.mean[m];
    const bool within = std::abs(over) <= row[m].half_width() + paper.half_width[m] + kAllowance;
    fmt::print("  {:>+6.2f} {:<6}", over, std::isnan(over) ? "-" : within ? "within" : over > 0 ? "above" : "BELOW");
  }
  fmt::print("\n");
}

void summarise(const Request& request) {
  for (const auto& [label, kinds] : read_cells(request.out)) {
    for (const auto& [kind, datasets] : kinds) {
      bool known = false;
      for (const auto& [dataset, row] : datasets) {
        const PaperRow* paper = paper_row_of(label, dataset);
        if (paper == nullptr) continue;
        if (!known) fmt::print("\n{}, {} (Rand index, purity, AUC, average precision, 5-NN)\n", label, kind);
        known = true;
        print_against_row(dataset, row, *paper);
      }
      if (!known) print_table(label + ", " + kind, datasets);
    }
  }
}

int main_program(int argc, char** argv) {
  CLI::App program(
      "Scores on the paper's datasets; results are appended to --out, runs that are there are not repeated.");
  Request request;
  program.add_option("--out", request.out, "file of results");
  program.add_option("--protocol", request.protocol, "paper (raw, T = 0, 2000 triplets) or defaults");
  program.add_option("--method", request.method, "pbdl or a classical method");
  program.add_option("--label", request.label, "name of the results, where it is not the protocol's");
  program.add_option("--datasets", request.datasets, "names")->delimiter(',');
  program.add_option("--transfusion", request.transfusion, "the file of that dataset, which is not built in");
  program.add_option("--runs", request.runs, "number of random splits");
  program.add_option("--first", request.first, "number of the first split");
  program.add_option("--threads", request.threads, "0: all");
  program.add_flag("--summary", request.summary, "print the tables of the results instead");
  program.add_option("--scales", request.scales, "none,standard");
  program.add_option("--supervision", request.supervision, "comparisons,hard_comparisons,all_pairs");
  program.add_option("--temperatures", request.temperatures, "T to try")->delimiter(',');
  program.add_option("--lambdas", request.lambdas, "lambdas to try, ascending")->delimiter(',');
  program.add_option("--folds", request.folds, "of the cross-validation");
  program.add_option("--start", request.start, "of k-means: euclidean or divergence");
  program.add_option("--comparisons", request.comparisons, "how many to draw");
  program.add_option("--neighbours", request.neighbours, "of hard comparisons");
  program.add_option("--dump", request.dump, "append the scores of all candidates here instead");
  program.add_option("--tuning-tolerance", request.tuning_tolerance, "relative gap of the fits on folds");
  program.add_option("--proof-tolerance", request.proof_tolerance, "relative gap of the proofs that replace fits");
  CLI11_PARSE(program, argc, argv);
  const ThreadLimit limit(request.threads);
  try {
    if (request.summary) {
      summarise(request);
    } else {
      run_all(request);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "accuracy_table: error: {}\n", error.what());
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace bregmax::accuracy

int main(int argc, char** argv) { return bregmax::accuracy::main_program(argc, argv); }
