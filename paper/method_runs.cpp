#include "paper/method_runs.hpp"

#include <algorithm>
#include <limits>

#include "bregmax/learn/method_tuning.hpp"
#include "learn/repeated_folds.hpp"

namespace bregmax::internal {
namespace {

// So small that the last fits are made to each method's own tolerance.
constexpr double kLeastTolerance = std::numeric_limits<double>::min();

MethodFitOptions options_of(const ProtocolRow& row, const Method& method, const RunParts& parts) {
  MethodFitOptions options;
  options.scales = {Scale::kNone};
  options.evaluation = parts.evaluation;
  options.settings.seed = parts.seed;
  // The paper's NCA is diagonal.
  if (row.name == "nca") options.settings.parameters["form"] = method.parameter("form").parse("diagonal");
  return options;
}

TuneOptions tune_options(const RunParts& parts) { return {Measure::kAveragePrecision, parts.evaluation, 1, 0}; }

// The settings of one candidate and nothing else to try. They are "tried", so that they name the candidate.
MethodFitOptions only(const Settings& settings, const Method& method, MethodFitOptions options) {
  options.tuning_tolerance = kLeastTolerance;
  for (const Setting& one : settings) {
    if (one.name != "scale")
      options.tried[one.name] = {one.word.empty() ? one.value : method.parameter(one.name).parse(one.word)};
  }
  return options;
}

std::vector<Settings> choose(const Method& method, const MethodFitOptions& options, const RunParts& parts,
                             const RunControl& control) {
  const CandidateFamilies families = method_families(method, options);
  if (!has_choice(method, options)) {
    return std::vector<Settings>(kTableMeasures.size(), families.front()->candidates().front());
  }
  const TuneResult cross =
      tune(repeated_folds(parts.train_rows, parts.train_classes, {options.folds, options.repeats, parts.seed}),
           families, tune_options(parts), control);
  if (control.stop_requested()) return {};
  return chosen_settings(cross);
}

// A method may be unable to learn on some data; such a run has no scores, and says why.
RunScores failed_run(const std::string& reason) {
  RunScores scores;
  scores.per_measure.fill(std::numeric_limits<double>::quiet_NaN());
  scores.one_model = scores.per_measure;
  scores.note = "FAILED: " + reason;
  return scores;
}

RunScores run_row(const ProtocolRow& row, const RunParts& parts, const RunControl& control) {
  const Method& method = method_named(row.name);
  const MethodFitOptions options = options_of(row, method, parts);
  try {
    const std::vector<Settings> chosen = choose(method, options, parts, control);
    if (control.stop_requested()) return {};
    CandidateFamilies families;
    std::vector<Settings> learned;
    for (const Settings& one : chosen) {
      if (std::find(learned.begin(), learned.end(), one) != learned.end()) continue;
      learned.push_back(one);
      families.push_back(method_families(method, only(one, method, options)).front());
    }
    const TuneResult whole = tune({whole_run(parts)}, families, tune_options(parts), control);
    if (control.stop_requested()) return {};
    return row_scores(chosen, whole);
  } catch (const CandidateFailure& failure) {
    return failed_run(failure.what());
  }
}

}  // namespace

std::vector<RunScores> run_method_rows(const std::vector<ProtocolRow>& rows, const RunParts& parts,
                                       const RunControl& control) {
  std::vector<RunScores> all;
  for (const ProtocolRow& row : rows) {
    all.push_back(run_row(row, parts, control));
    if (control.stop_requested()) return {};
  }
  return all;
}

}  // namespace bregmax::internal
