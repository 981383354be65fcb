#include "reports/method_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/tuning_report.hpp"

namespace bregmax::app {
namespace {

const MethodParameter* find_parameter(const std::string& method, const std::string& name) {
  for (const Method& each : all_methods()) {
    if (each.name != method) continue;
    const auto found = std::ranges::find(each.parameters, name, &MethodParameter::name);
    if (found != each.parameters.end()) return &*found;
  }
  return nullptr;
}

double tolerance_of(const MethodOutcome& outcome) {
  return outcome.plan.settings.tolerance.value_or(outcome.method.limits.tolerance);
}

std::string supervision_line(const MethodOutcome& outcome) {
  const TrainingRecord& record = outcome.result.fit.model.record;
  if (outcome.method.name == "euclidean") return "not needed";
  const FitRequest& request = outcome.request;
  std::string line = items_text(record);
  if (!request.pairs_file.empty()) line += " from " + request.pairs_file;
  if (!request.targets_file.empty()) line += " from " + request.targets_file;
  if (request.all_pairs) line += ", all ordered pairs of rows, from the labels";
  return line;
}

std::string reason_of(const MethodOutcome& outcome) {
  switch (outcome.result.fit.report.status) {
    case Status::kConverged:
      break;
    case Status::kIterationLimit:
      return fmt::format("the limit of {} iterations was reached (--max-iterations)",
                         outcome.plan.settings.max_iterations.value_or(outcome.method.limits.max_iterations));
    case Status::kTimeLimit:
      return fmt::format("--time-limit {} was reached", short_number(outcome.plan.settings.time_limit));
    case Status::kStopped:
      return "stopped by an interrupt";
    case Status::kNumericalError:
      return "rounding errors ended the progress";
  }
  return "";
}

}  // namespace

std::string parameters_text(const std::string& method, const std::map<std::string, double>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    const MethodParameter* parameter = find_parameter(method, name);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name,
                        parameter != nullptr ? parameter->text(value) : short_number(value));
  }
  return text;
}

Json parameters_json(const std::string& method, const std::map<std::string, double>& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) {
    const MethodParameter* parameter = find_parameter(method, name);
    const bool named = parameter != nullptr && !parameter->choices.empty();
    object[name] = named ? Json(parameter->text(value)) : Json(value);
  }
  return object;
}

Json method_as_json(const MethodOutcome& outcome) {
  const MethodReport& report = outcome.result.fit.report;
  const Model& model = outcome.result.fit.model;
  const TrainingRecord& record = model.record;
  return {
      {"status", to_string(report.status)},
      {"method", outcome.method.name},
      {"parameters", parameters_json(outcome.method.name, record.parameters)},
      {"objective", report.objective},
      {"stationarity", report.stationarity},
      {"tolerance", tolerance_of(outcome)},
      {"divergence", model.divergence ? Json(model.divergence->name()) : Json(nullptr)},
      {"n", outcome.table.features.rows()},
      {"d", outcome.table.features.cols()},
      {"supervision", record.supervision},
      {"items", record.items},
      {"iterations", report.iterations},
      {"seconds", report.seconds},
      {"scale", outcome.result.chosen_scale == Scale::kStandard ? "standard" : "none"},
      {"tuning", tuning_as_json(model.tuning)},
      {"seed", outcome.request.seed},
      {"data", outcome.table.source},
      {"model", outcome.saved ? Json(outcome.request.out) : Json(nullptr)},
  };
}

std::string method_as_text(const MethodOutcome& outcome) {
  const MethodReport& report = outcome.result.fit.report;
  const Table& table = outcome.table;
  const TrainingRecord& record = outcome.result.fit.model.record;
  std::string out;
  const auto line = [&out](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  line("data", fmt::format("{}: {}, {}, {}", table.source, count_of(table.features.rows(), "row"),
                           count_of(table.features.cols(), "feature"),
                           outcome.result.chosen_scale == Scale::kStandard ? "standardised" : "not scaled"));
  if (outcome.result.fit.model.divergence == nullptr) return out;
  line("supervision", supervision_line(outcome));
  if (!outcome.result.fit.model.tuning.empty()) out += tuning_summary(outcome.result.fit.model.tuning);
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
  const bool tuning = outcome.result.tuning_ended_early, scored = outcome.result.fit.model.divergence != nullptr;
  std::string message =
      tuning ? fmt::format("bregmax: not tuned: {} while parameters were being chosen", reason_of(outcome))
             : fmt::format("bregmax: not converged: {} at a stationarity of {:.1e} ({:g} was asked for)",
                           reason_of(outcome), outcome.result.fit.report.stationarity, tolerance_of(outcome));
  if (outcome.request.out.empty()) return message;
  if (outcome.saved) {
    return message +
           fmt::format("; {} holds {}", outcome.request.out,
                       tuning ? "the best model so far, learned on a part of the rows" : "the unfinished model");
  }
  return message + fmt::format("; {} was not written ({})", outcome.request.out,
                               scored ? "--keep-partial would" : "no model was scored yet");
}

}  // namespace bregmax::app
