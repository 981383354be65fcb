#pragma once

#include <map>
#include <string>

#include "bregmax/learn/run.hpp"
#include "options/fit_options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// All that is told about a finished fit.
struct FitReport {
  const FitCommand& fit;
  const Plan& plan;
  const Table& table;
  const FitOutcome& outcome;
  bool saved;
};

Json fit_as_json(const FitReport& report);
std::string fit_as_text(const FitReport& report);

// Why a run ended early, and what became of its model.
std::string explain_early_end(const FitReport& report, const Finding& finding);

double smoothing_of(const Divergence& divergence);

// "gamma = 1, prior = identity"; empty when there are none. A method that this program does not know: numbers.
std::string parameters_text(const std::string& method, const std::map<std::string, double>& parameters);
Json parameters_json(const std::string& method, const std::map<std::string, double>& parameters);

}  // namespace bregmax::app
