#include "bregmax/methods/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "methods/checks.hpp"
#include "methods/methods.hpp"

namespace bregmax {
namespace {

std::string supervision_name(const MethodSupervision& supervision) {
  static constexpr const char* kNames[] = {"labels", "pairs", "targets"};
  return kNames[supervision.index()];
}

void check_supervision(const Method& method, const MethodSupervision& supervision, Index rows) {
  const bool accepted[] = {method.from_labels, method.from_pairs, method.from_targets};
  if (!accepted[supervision.index()]) {
    std::vector<std::string> names;
    if (method.from_labels) names.emplace_back("labels");
    if (method.from_pairs) names.emplace_back("pairs");
    if (method.from_targets) names.emplace_back("targets");
    throw Error(fmt::format("{} cannot learn from {}; allowed: {}", method.name, supervision_name(supervision),
                            fmt::join(names, ", ")));
  }
  if (const auto* class_of_row = std::get_if<ClassOfRow>(&supervision)) internal::check_classes(*class_of_row, rows);
  if (const auto* pairs = std::get_if<Pairs>(&supervision)) internal::check_pairs(*pairs, rows);
  if (const auto* targets = std::get_if<Targets>(&supervision)) internal::check_targets(*targets, rows);
}

MethodChoices resolve(const Method& method, const MethodSettings& settings) {
  MethodChoices choices{{}, method.limits, settings.seed};
  for (const MethodParameter& parameter : method.parameters) choices.parameters[parameter.name] = parameter.standard;
  for (const auto& [name, value] : settings.parameters) {
    method.parameter(name).check(value);
    choices.parameters[name] = value;
  }
  choices.limits.tolerance = settings.tolerance.value_or(choices.limits.tolerance);
  choices.limits.max_iterations = settings.max_iterations.value_or(choices.limits.max_iterations);
  choices.limits.time_limit = settings.time_limit;
  internal::check_limits(choices.limits);
  return choices;
}

TrainingRecord make_record(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                           const MethodSettings& settings, const MethodReport& report) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  TrainingRecord record;
  record.method = method.name;
  record.supervision = supervision_name(supervision);
  record.solver = method.name;
  record.status = to_string(report.status);
  record.rows = rows.rows();
  record.items = std::visit([](const auto& items) { return static_cast<Index>(items.size()); }, supervision);
  record.lambda = record.lipschitz_bound = record.lipschitz = record.loss = record.lower_bound = kNan;
  record.relative_gap = kNan;
  record.objective = report.objective;
  record.stationarity = report.stationarity;
  record.iterations = report.iterations;
  record.seconds = report.seconds;
  record.seed = settings.seed;
  record.parameters = resolve(method, settings).parameters;
  return record;
}

}  // namespace

std::string MethodParameter::allowed() const {
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, " or "));
  const char* kind = whole ? "a whole number" : "a number";
  if (!std::isfinite(high)) return fmt::format("{} {} {}", kind, low_included ? ">=" : ">", low);
  return low_included ? fmt::format("{} from {} to {}", kind, low, high)
                      : fmt::format("{} above {}, up to {}", kind, low, high);
}

double MethodParameter::parse(const std::string& text) const {
  const auto choice = std::ranges::find(choices, text);
  if (choice != choices.end()) return static_cast<double>(choice - choices.begin());
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!choices.empty() || error != std::errc{} || stop != text.data() + text.size()) {
    throw Error(fmt::format("{} is '{}'; allowed: {}", name, text, allowed()));
  }
  check(value);
  return value;
}

std::string MethodParameter::text(double value) const {
  const auto choice = static_cast<std::size_t>(value);
  return choice < choices.size() ? choices[choice] : fmt::format("{:.6g}", value);
}

void MethodParameter::check(double value) const {
  const double top = choices.empty() ? high : static_cast<double>(choices.size()) - 1;
  const bool inside = (low_included ? value >= low : value > low) && value <= top && std::isfinite(value);
  const bool fraction_fits = !(whole || !choices.empty()) || value == std::floor(value);
  if (!inside || !fraction_fits) throw Error(fmt::format("{} is {}; allowed: {}", name, value, allowed()));
}

const MethodParameter& Method::parameter(std::string_view parameter_name) const {
  const auto known = std::ranges::find(parameters, parameter_name, &MethodParameter::name);
  if (known != parameters.end()) return *known;
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const MethodParameter& each : parameters) names.push_back(each.name);
  throw Error(fmt::format("{} has no parameter '{}'; allowed: {}", name, parameter_name,
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

const std::vector<Method>& all_methods() {
  static const std::vector<Method> kMethods = {
      internal::euclidean_method(), internal::mahalanobis_method(), internal::itml_method(), internal::gmml_method(),
      internal::mlr_auc_method(),   internal::wu2009_method(),      internal::lmnn_method(), internal::gb_lmnn_method(),
      internal::nca_method(),       internal::kernel_nca_method(),
  };
  return kMethods;
}

const Method& method_named(std::string_view name) {
  const auto& methods = all_methods();
  const auto found = std::ranges::find(methods, name, &Method::name);
  if (found != methods.end()) return *found;
  std::vector<std::string> names;
  names.reserve(methods.size());
  for (const Method& method : methods) names.push_back(method.name);
  throw Error(fmt::format("unknown method '{}'; allowed: {}", name, fmt::join(names, ", ")));
}

Learned learn_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const MethodSettings& settings, const RunControl& control) {
  const MethodChoices choices = resolve(method, settings);
  internal::check_bounded_rows(rows);
  check_supervision(method, supervision, rows.rows());
  return method.learn(rows, supervision, choices, control);
}

MethodFit fit_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const Scaling& scaling, const MethodSettings& settings, const RunControl& control) {
  internal::check_bounded_rows(rows);
  Learned learned = learn_with(method, scaling.apply(rows), supervision, settings, control);
  MethodFit fit;
  fit.report = learned.report;
  fit.model.divergence = std::move(learned.divergence);
  fit.model.scaling = scaling;
  fit.model.record = make_record(method, rows, supervision, settings, fit.report);
  return fit;
}

}  // namespace bregmax
