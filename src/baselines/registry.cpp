#include "bregmax/baselines/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "baselines/checks.hpp"
#include "baselines/methods.hpp"
#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

std::string supervision_name(const BaselineSupervision& supervision) {
  static constexpr const char* kNames[] = {"labels", "pairs", "targets"};
  return kNames[supervision.index()];
}

void check_supervision(const BaselineMethod& method, const BaselineSupervision& supervision, Index rows) {
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

BaselineChoices resolve(const BaselineMethod& method, const BaselineSettings& settings) {
  BaselineChoices choices{{}, method.limits, settings.seed};
  for (const BaselineParameter& parameter : method.parameters) choices.parameters[parameter.name] = parameter.standard;
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

TrainingRecord make_record(const BaselineMethod& method, const MatrixView& rows, const BaselineSupervision& supervision,
                           const BaselineSettings& settings, const BaselineReport& report) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  TrainingRecord record;
  record.method = method.name;
  record.supervision = supervision_name(supervision);
  record.solver = method.name;
  record.status = to_string(report.status);
  record.rows = rows.rows();
  record.items = std::visit([](const auto& items) { return static_cast<Index>(items.size()); }, supervision);
  record.lambda = record.lipschitz_bound = record.lipschitz = record.loss = record.dual_objective = kNan;
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

std::string to_string(BaselineStatus status) {
  switch (status) {
    case BaselineStatus::kConverged:
      return "converged";
    case BaselineStatus::kIterationLimit:
      return "iteration_limit";
    case BaselineStatus::kTimeLimit:
      return "time_limit";
    case BaselineStatus::kStopped:
      return "stopped";
    case BaselineStatus::kNumericalError:
      return "numerical_error";
  }
  return "numerical_error";
}

std::string BaselineParameter::allowed() const {
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, " or "));
  const char* kind = whole ? "a whole number" : "a number";
  if (!std::isfinite(high)) return fmt::format("{} {} {}", kind, low_included ? ">=" : ">", low);
  return low_included ? fmt::format("{} from {} to {}", kind, low, high)
                      : fmt::format("{} above {}, up to {}", kind, low, high);
}

double BaselineParameter::parse(const std::string& text) const {
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

std::string BaselineParameter::text(double value) const {
  const auto choice = static_cast<std::size_t>(value);
  return choice < choices.size() ? choices[choice] : fmt::format("{:.6g}", value);
}

void BaselineParameter::check(double value) const {
  const double top = choices.empty() ? high : static_cast<double>(choices.size()) - 1;
  const bool inside = (low_included ? value >= low : value > low) && value <= top && std::isfinite(value);
  const bool fraction_fits = !(whole || !choices.empty()) || value == std::floor(value);
  if (!inside || !fraction_fits) throw Error(fmt::format("{} is {}; allowed: {}", name, value, allowed()));
}

const BaselineParameter& BaselineMethod::parameter(std::string_view parameter_name) const {
  const auto known = std::ranges::find(parameters, parameter_name, &BaselineParameter::name);
  if (known != parameters.end()) return *known;
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const BaselineParameter& each : parameters) names.push_back(each.name);
  throw Error(fmt::format("{} has no parameter '{}'; allowed: {}", name, parameter_name,
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

const std::vector<BaselineMethod>& baseline_methods() {
  static const std::vector<BaselineMethod> kMethods = {
      internal::euclidean_method(), internal::mahalanobis_method(), internal::itml_method(), internal::gmml_method(),
      internal::mlr_auc_method(),   internal::wu2009_method(),      internal::lmnn_method(), internal::gb_lmnn_method(),
      internal::nca_method(),       internal::kernel_nca_method(),
  };
  return kMethods;
}

const BaselineMethod& baseline_method(std::string_view name) {
  const auto& methods = baseline_methods();
  const auto found = std::ranges::find(methods, name, &BaselineMethod::name);
  if (found != methods.end()) return *found;
  std::vector<std::string> names;
  names.reserve(methods.size());
  for (const BaselineMethod& method : methods) names.push_back(method.name);
  throw Error(fmt::format("unknown method '{}'; allowed: {}", name, fmt::join(names, ", ")));
}

LearnedMetric learn_baseline(const BaselineMethod& method, const MatrixView& rows,
                             const BaselineSupervision& supervision, const BaselineSettings& settings,
                             const RunControl& control) {
  const BaselineChoices choices = resolve(method, settings);
  internal::check_bounded_rows(rows);
  check_supervision(method, supervision, rows.rows());
  return method.learn(rows, supervision, choices, control);
}

BaselineFit fit_baseline(const BaselineMethod& method, const MatrixView& rows, const BaselineSupervision& supervision,
                         const Scaling& scaling, const BaselineSettings& settings, const RunControl& control) {
  internal::check_bounded_rows(rows);
  LearnedMetric learned = learn_baseline(method, scaling.apply(rows), supervision, settings, control);
  BaselineFit fit;
  fit.report = learned.report;
  fit.model.divergence = std::move(learned.divergence);
  fit.model.scaling = scaling;
  fit.model.record = make_record(method, rows, supervision, settings, fit.report);
  return fit;
}

}  // namespace bregmax
