#include "paper/pbdl_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "bregmax/core/error.hpp"
#include "learn/repeated_folds.hpp"

namespace bregmax::internal {
namespace {

// The fits whose scores are reported: to the gap of `bregmax fit`.
constexpr double kFinalTolerance = 1e-8;

AutoFitOptions options_of(const ProtocolRow& row, Index train_rows) {
  AutoFitOptions options = paper_options();
  if (row.name == "pbdl") return options;
  if (row.name == "defaults") return recommended_options(train_rows);
  if (row.name == "pbdl-few-pieces") {
    options.pieces = {10, 20, 40};
  } else {
    options.temperatures = default_temperatures();
    if (row.name == "pbdl-standardised") options.scales = {Scale::kStandard};
  }
  return options;
}

double number_of(const Settings& settings, const std::string& name) {
  for (const Setting& one : settings) {
    if (one.name == name) return one.value;
  }
  return 0;
}

std::vector<double> sorted(const std::set<double>& values) { return {values.begin(), values.end()}; }

// Learns the chosen candidates on the whole training part and scores them on the test part. Each (K, lambda) is a
// family of its own: on one path an optimum may stand in for that of another lambda, and the scores of a row would
// depend on what other rows chose.
TuneResult final_scores(const std::vector<Settings>& chosen, AutoFitOptions options, const RunParts& parts,
                        const RunControl& control) {
  options.tuning_tolerance = options.proof_tolerance = kFinalTolerance;
  std::map<std::pair<double, double>, std::set<double>> temperatures;
  for (const Settings& one : chosen) {
    temperatures[{number_of(one, "pieces"), number_of(one, "lambda")}].insert(number_of(one, "smoothing"));
  }
  CandidateFamilies families;
  for (const auto& [which, tried] : temperatures) {
    options.pieces = {static_cast<int>(which.first)};
    options.lambdas = {which.second};
    options.temperatures = sorted(tried);
    families.push_back(families_from_labels(parts.train_rows, parts.train_classes, options).front());
  }
  return tune({whole_run(parts)}, families, {Measure::kAveragePrecision, parts.evaluation, 1, 0}, control);
}

}  // namespace

AutoFitOptions paper_options() {
  AutoFitOptions options;
  options.scales = {Scale::kNone};
  options.temperatures = {0};
  options.supervision = {LabelSupervisionOptions{}};
  return options;
}

bool is_pbdl_group(const std::string& group) { return group.starts_with("pbdl") || group == "defaults"; }

std::vector<RunScores> run_pbdl_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                     const RunControl& control) {
  AutoFitOptions options = options_of(rows.front(), parts.train_rows.rows());
  std::vector<std::vector<double>> temperatures;
  std::set<double> all_temperatures;
  for (const ProtocolRow& row : rows) {
    temperatures.push_back(options_of(row, parts.train_rows.rows()).temperatures);
    all_temperatures.insert(temperatures.back().begin(), temperatures.back().end());
  }
  options.temperatures = sorted(all_temperatures);
  options.evaluation = parts.evaluation;
  options.fit.seed = parts.seed;
  for (LabelSupervisionOptions& one : options.supervision) one.seed = parts.seed;

  const TuneResult cross =
      tune(repeated_folds(parts.train_rows, parts.train_classes, {options.folds, options.repeats, parts.seed}),
           families_from_labels(parts.train_rows, parts.train_classes, options),
           {Measure::kAveragePrecision, parts.evaluation, 1, 0}, control);
  if (control.stop_requested()) return {};
  std::vector<std::vector<Settings>> chosen;
  std::vector<Settings> all_chosen;
  for (const auto& allowed : temperatures) {
    chosen.push_back(chosen_settings(restricted(cross, [&](const Settings& settings) {
      return std::find(allowed.begin(), allowed.end(), number_of(settings, "smoothing")) != allowed.end();
    })));
    all_chosen.insert(all_chosen.end(), chosen.back().begin(), chosen.back().end());
  }
  const TuneResult whole = final_scores(all_chosen, options, parts, control);
  if (control.stop_requested()) return {};
  std::vector<RunScores> scores;
  scores.reserve(chosen.size());
  for (const auto& settings : chosen) scores.push_back(row_scores(settings, whole));
  return scores;
}

}  // namespace bregmax::internal
