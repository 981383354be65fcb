#pragma once

#include <string>

#include "bregmax/data/table.hpp"
#include "bregmax/learn/method_tuning.hpp"
#include "options/fit_options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// All that is told about a finished run of a classical method.
struct MethodOutcome {
  const FitRequest& request;
  const Method& method;
  const MethodFitOptions& plan;
  const Table& table;
  const MethodFitResult& result;
  bool saved;
};

Json method_as_json(const MethodOutcome& outcome);
std::string method_as_text(const MethodOutcome& outcome);
std::string explain_early_end(const MethodOutcome& outcome);

// "gamma = 1, prior = identity"; empty when there are none. A method that this program does not know: numbers.
std::string parameters_text(const std::string& method, const std::map<std::string, double>& parameters);
Json parameters_json(const std::string& method, const std::map<std::string, double>& parameters);

}  // namespace bregmax::app
