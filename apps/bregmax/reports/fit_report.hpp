#pragma once

#include <string>

#include "bregmax/learn/run.hpp"
#include "options/fit_options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// All that is told about a finished fit.
struct FinishedFit {
  const FitCommand& fit;
  const Plan& plan;
  const Table& table;
  const FitOutcome& outcome;
  bool saved;
};

Json fit_as_json(const FinishedFit& report);
std::string fit_as_text(const FinishedFit& report);

// Why a run ended early, and what became of its model.
std::string explain_early_end(const FinishedFit& report, const Finding& finding);

double smoothing_of(const Divergence& divergence);

// "itml: gamma = 1, prior = identity".
std::string method_text(const TrainingRecord& record);

// The column of the measure that was tuned for.
Index measure_index(const TuningRecord& record);

// "lambda 10, smoothing 0.3, scale standard".
std::string settings_text(const Settings& settings);

// What was chosen, by which score, and how many fits on the folds were solved or proved.
std::string tuning_summary(const TuningRecord& record);

// The whole table: one line per candidate with "mean (standard error)" of each measure, the chosen one marked.
std::string tuning_table(const TuningRecord& record);

}  // namespace bregmax::app
