#include "paper/pbdl_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

// The fits whose scores are reported: to the gap of `bregmax fit`.
constexpr double kFinalTolerance = 1e-8;

// What a row of the table asks for.
Plan plan_of(const ProtocolRow& row, const TrainingData& data, std::uint64_t seed) {
  FitRequest request = paper_request("pbdl", seed);
  if (row.name == "defaults") {
    request = {};
    request.seed = seed;
    request.solver.solver = Solver::kExact;
  } else if (row.name != "pbdl" && row.name != "pbdl-few-pieces") {
    request.parameters["smoothing"] = Wish::choose();
    if (row.name == "pbdl-standardised") request.scales = {Scale::kStandard};
  }
  Plan planned = plan(request, data);
  if (row.name == "pbdl-few-pieces") {  // a fold with fewer rows than pieces has a piece per row
    planned.settings.parameters.erase("pieces");
    planned.tried["pieces"] = {10, 20, 40};
  }
  return planned;
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
TuneResult final_scores(const std::vector<Settings>& chosen, Plan planned, const TrainingData& data,
                        const RunParts& parts, const RunControl& control) {
  planned.fold_tolerance = planned.proof_tolerance = kFinalTolerance;
  std::map<std::pair<double, double>, std::set<double>> temperatures;
  for (const Settings& one : chosen) {
    temperatures[{number_of(one, "pieces"), number_of(one, "lambda")}].insert(number_of(one, "smoothing"));
  }
  CandidateFamilies families;
  for (const auto& [which, tried] : temperatures) {
    planned.tried["pieces"] = {which.first};
    planned.tried["lambda"] = {which.second};
    planned.tried["smoothing"] = sorted(tried);
    families.push_back(families_of(planned, data).front());
  }
  return tune({whole_run(parts)}, families, {Measure::kAveragePrecision, parts.evaluation, 1, 0}, control);
}

}  // namespace

bool is_pbdl_group(const std::string& group) { return group.starts_with("pbdl") || group == "defaults"; }

std::vector<RunScores> run_pbdl_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                     const RunControl& control) {
  const TrainingData data{parts.train_rows, parts.train_classes};
  Plan planned = plan_of(rows.front(), data, parts.seed);
  std::vector<std::vector<double>> temperatures;
  std::set<double> all_temperatures;
  for (const ProtocolRow& row : rows) {
    temperatures.push_back(plan_of(row, data, parts.seed).values("smoothing"));
    all_temperatures.insert(temperatures.back().begin(), temperatures.back().end());
  }
  planned.tried["smoothing"] = sorted(all_temperatures);
  planned.evaluation = parts.evaluation;

  const TuneResult cross = tune(folds_of(planned, data), families_of(planned, data),
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
  const TuneResult whole = final_scores(all_chosen, planned, data, parts, control);
  if (control.stop_requested()) return {};
  std::vector<RunScores> scores;
  scores.reserve(chosen.size());
  for (const auto& settings : chosen) scores.push_back(row_scores(settings, whole));
  return scores;
}

}  // namespace bregmax::internal
