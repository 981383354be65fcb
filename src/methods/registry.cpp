#include "bregmax/methods/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "methods/checks.hpp"
#include "methods/methods.hpp"
#include "methods/record.hpp"

namespace bregmax {
namespace {

void check_supervision(const Method& method, const MethodSupervision& supervision, Index rows) {
  const std::pair<bool, const char*> kinds[] = {{method.from_labels, "labels"},
                                                {method.from_pairs, "pairs"},
                                                {method.from_targets, "targets"},
                                                {method.from_comparisons, "comparisons"}};
  std::vector<std::string> names;
  for (const auto& [accepted, name] : kinds) {
    if (accepted) names.emplace_back(name);
  }
  const std::string given = supervision_name(supervision);
  if (std::ranges::find(names, given) == names.end()) {
    throw Error(fmt::format("{} cannot learn from {}; allowed: {}", method.name, given, fmt::join(names, ", ")));
  }
  // Comparisons and pairs of labels are checked by the only method that takes them.
  if (const auto* class_of_row = std::get_if<ClassOfRow>(&supervision)) internal::check_classes(*class_of_row, rows);
  if (const auto* pairs = std::get_if<Pairs>(&supervision)) internal::check_pairs(*pairs, rows);
  if (const auto* targets = std::get_if<Targets>(&supervision)) internal::check_targets(*targets, rows);
}

}  // namespace

std::string to_string(Scale scale) { return scale == Scale::kStandard ? "standard" : "none"; }

std::string to_string(Solver solver) {
  return solver == Solver::kAuto ? "auto" : solver == Solver::kExact ? "exact" : "admm";
}

std::string supervision_name(const MethodSupervision& supervision) {
  static constexpr const char* kNames[] = {"labels", "pairs", "targets", "comparisons", "pairs"};
  return kNames[supervision.index()];
}

Index item_count(const MethodSupervision& supervision) {
  return std::visit([](const auto& items) { return static_cast<Index>(items.size()); }, supervision);
}

Supervision items_of(const MethodSupervision& supervision) {
  return std::visit(
      [](const auto& items) -> Supervision {
        if constexpr (std::is_same_v<std::decay_t<decltype(items)>, ClassOfRow>) {
          throw Error("labels are no items; allowed: comparisons, pairs or targets");
        } else {
          return items;
        }
      },
      supervision);
}

MethodSupervision as_method_supervision(Supervision items) {
  return std::visit([](auto&& list) { return MethodSupervision(std::forward<decltype(list)>(list)); },
                    std::move(items));
}

std::string MethodParameter::allowed() const {
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, " or "));
  const char* kind = whole ? "a whole number" : "a number";
  const std::string or_word = word ? fmt::format(", or {}", word->first) : "";
  if (!std::isfinite(high)) return fmt::format("{} {} {}{}", kind, low_included ? ">=" : ">", low, or_word);
  return low_included ? fmt::format("{} from {} to {}{}", kind, low, high, or_word)
                      : fmt::format("{} above {}, up to {}{}", kind, low, high, or_word);
}

double MethodParameter::parse(const std::string& text) const {
  const auto choice = std::find(choices.begin(), choices.end(), text);
  if (choice != choices.end()) return static_cast<double>(choice - choices.begin());
  if (word && text == word->first) return word->second;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!choices.empty() || error != std::errc{} || stop != text.data() + text.size()) {
    throw Error(fmt::format("{} is '{}'; allowed: {}", name, text, allowed()));
  }
  check_number(value);
  return value;
}

std::string MethodParameter::text(double value) const {
  if (word && value == word->second) return word->first;
  const auto choice = static_cast<std::size_t>(value);
  return choice < choices.size() ? choices[choice] : fmt::format("{:.6g}", value);
}

void MethodParameter::check(double value) const {
  if (!(word && value == word->second)) check_number(value);
}

void MethodParameter::check_number(double value) const {
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
      internal::pbdl_method(),    internal::euclidean_method(), internal::mahalanobis_method(), internal::itml_method(),
      internal::gmml_method(),    internal::mlr_auc_method(),   internal::wu2009_method(),      internal::lmnn_method(),
      internal::gb_lmnn_method(), internal::nca_method(),       internal::kernel_nca_method(),
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

MethodChoices resolve(const Method& method, const MethodSettings& settings) {
  MethodChoices choices{{}, method.limits, settings.seed, settings};
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
  MethodFit fit = internal::as_fit(learn_with(method, scaling.apply(rows), supervision, settings, control), method.name,
                                   supervision, scaling, rows.rows(), settings.seed);
  // The record of a proof has fields of its own for these.
  if (!fit.proved) fit.model.record.parameters = resolve(method, settings).parameters;
  return fit;
}

Scaling make_scaling(const MatrixView& rows, Scale scale) {
  return scale == Scale::kStandard ? Scaling::standard(rows) : Scaling::none(rows.cols());
}

std::vector<double> FamilyOptions::values(const std::string& name) const {
  if (const auto several = tried.find(name); several != tried.end()) return several->second;
  return {resolve(method, settings).number(name)};
}

}  // namespace bregmax
