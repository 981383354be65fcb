#include "paper/method_runs.hpp"

#include <algorithm>
#include <limits>

#include "bregmax/learn/run.hpp"

namespace bregmax::internal {
namespace {

// So small that the last fits are made to each method's own tolerance.
constexpr double kLeastTolerance = std::numeric_limits<double>::min();

Plan plan_of(const ProtocolRow& row, const RunParts& parts, const TrainingData& data) {
  FitRequest request = paper_request(row.name, parts.seed);
  // The paper's NCA is diagonal.
  if (row.name == "nca") request.parameters["form"] = method_named("nca").parameter("form").parse("diagonal");
  Plan planned = plan(request, data);
  planned.evaluation = parts.evaluation;
  return planned;
}

TuneOptions tune_options(const RunParts& parts) { return {Measure::kAveragePrecision, parts.evaluation, 1, 0}; }

// The settings of one candidate and nothing else to try. They are "tried", so that they name the candidate.
Plan only(const Settings& settings, Plan planned) {
  planned.fold_tolerance = kLeastTolerance;
  for (const Setting& one : settings) {
    if (one.name == "scale" && !one.word.empty()) continue;
    planned.tried[one.name] = {one.word.empty() ? one.value : planned.method->parameter(one.name).parse(one.word)};
  }
  return planned;
}

std::vector<Settings> choose(const Plan& planned, const TrainingData& data, const RunParts& parts,
                             const RunControl& control) {
  const CandidateFamilies families = families_of(planned, data);
  if (!planned.has_choice()) {
    return std::vector<Settings>(kTableMeasures.size(), families.front()->candidates().front());
  }
  const TuneResult cross = tune(folds_of(planned, data), families, tune_options(parts), control);
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
  const TrainingData data{parts.train_rows, parts.train_classes};
  const Plan planned = plan_of(row, parts, data);
  try {
    const std::vector<Settings> chosen = choose(planned, data, parts, control);
    if (control.stop_requested()) return {};
    CandidateFamilies families;
    std::vector<Settings> learned;
    for (const Settings& one : chosen) {
      if (std::find(learned.begin(), learned.end(), one) != learned.end()) continue;
      learned.push_back(one);
      families.push_back(families_of(only(one, planned), data).front());
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
