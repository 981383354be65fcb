#include "method_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bregmax::app {
namespace {

const BaselineParameter* find_parameter(const std::string& method, const std::string& name) {
  for (const BaselineMethod& each : baseline_methods()) {
    if (each.name != method) continue;
    const auto found = std::ranges::find(each.parameters, name, &BaselineParameter::name);
    if (found != each.parameters.end()) return &*found;
  }
  return nullptr;
}

double tolerance_of(const MethodOutcome& outcome) {
  return outcome.settings.tolerance.value_or(outcome.method.limits.tolerance);
}

std::string supervision_line(const MethodOutcome& outcome) {
  const TrainingRecord& record = outcome.result.model.record;
  if (outcome.method.name == "euclidean") return "not needed";
  const FitRequest& request = outcome.request;
  std::string line = fmt::format("{} {}", record.items, record.supervision);
  if (!request.pairs_file.empty()) line += " from " + request.pairs_file;
  if (!request.targets_file.empty()) line += " from " + request.targets_file;
  if (request.all_pairs) line += ", all ordered pairs of rows, from the labels";
  return line;
}

std::string reason_of(const MethodOutcome& outcome) {
  switch (outcome.result.report.status) {
    case BaselineStatus::kConverged:
      break;
    case BaselineStatus::kIterationLimit:
      return fmt::format("the limit of {} iterations was reached (--max-iterations)",
                         outcome.settings.max_iterations.value_or(outcome.method.limits.max_iterations));
    case BaselineStatus::kTimeLimit:
      return fmt::format("--time-limit {} was reached", short_number(outcome.settings.time_limit));
    case BaselineStatus::kStopped:
      return "stopped by an interrupt";
    case BaselineStatus::kNumericalError:
      return "rounding errors ended the progress";
  }
  return "";
}

}  // namespace

std::string parameter_text(const BaselineParameter& parameter, double value) {
  const auto choice = static_cast<std::size_t>(value);
  return choice < parameter.choices.size() ? parameter.choices[choice] : short_number(value);
}

std::string parameters_text(const std::string& method, const std::map<std::string, double>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    const BaselineParameter* parameter = find_parameter(method, name);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name,
                        parameter != nullptr ? parameter_text(*parameter, value) : short_number(value));
  }
  return text;
}

Json parameters_json(const std::string& method, const std::map<std::string, double>& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) {
    const BaselineParameter* parameter = find_parameter(method, name);
    const bool named = parameter != nullptr && !parameter->choices.empty();
    object[name] = named ? Json(parameter_text(*parameter, value)) : Json(value);
  }
  return object;
}

Json method_as_json(const MethodOutcome& outcome) {
  const BaselineReport& report = outcome.result.report;
  const TrainingRecord& record = outcome.result.model.record;
  return {
      {"status", to_string(report.status)},
      {"method", record.method},
      {"parameters", parameters_json(record.method, record.parameters)},
      {"objective", report.objective},
      {"stationarity", report.stationarity},
      {"tolerance", tolerance_of(outcome)},
      {"divergence", outcome.result.model.divergence->name()},
      {"n", outcome.table.features.rows()},
      {"d", outcome.table.features.cols()},
      {"supervision", record.supervision},
      {"items", record.items},
      {"iterations", report.iterations},
      {"seconds", report.seconds},
      {"scale", outcome.request.scale == "none" ? "none" : "standard"},
      {"seed", outcome.request.seed},
      {"data", outcome.table.source},
      {"model", outcome.saved ? Json(outcome.request.out) : Json(nullptr)},
  };
}

std::string method_as_text(const MethodOutcome& outcome) {
  const BaselineReport& report = outcome.result.report;
  const Table& table = outcome.table;
  const TrainingRecord& record = outcome.result.model.record;
  std::string out;
  const auto line = [&out](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  line("data", fmt::format("{}: {}, {}, {}", table.source, count_of(table.features.rows(), "row"),
                           count_of(table.features.cols(), "feature"),
                           outcome.request.scale == "none" ? "not scaled" : "standardised"));
  line("supervision", supervision_line(outcome));
  const std::string parameters = parameters_text(record.method, record.parameters);
  line("method", fmt::format("{}{}{}, {}, {:.2f} s", record.method, parameters.empty() ? "" : ": ", parameters,
                             count_of(report.iterations, "iteration"), report.seconds));
  line("status", fmt::format("{}: objective {}, stationarity {:.1e}", to_string(report.status),
                             short_number(report.objective), report.stationarity));
  if (outcome.saved) line("saved", outcome.request.out);
  if (outcome.request.out.empty()) out += "add --out MODEL to save it\n";
  return out;
}

std::string explain_early_end(const MethodOutcome& outcome) {
  std::string message = fmt::format("bregmax: not converged: {} at a stationarity of {:.1e} ({:g} was asked for)",
                                    reason_of(outcome), outcome.result.report.stationarity, tolerance_of(outcome));
  if (!outcome.request.out.empty()) {
    message += outcome.saved ? fmt::format("; {} holds the unfinished model", outcome.request.out)
                             : fmt::format("; {} was not written (--keep-partial would)", outcome.request.out);
  }
  return message;
}

}  // namespace bregmax::app
