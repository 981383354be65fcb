#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <variant>

#include "arrays.hpp"
#include "bregmax/learn/fit_plan.hpp"
#include "bregmax/learn/method_tuning.hpp"
#include "items.hpp"
#include "module.hpp"
#include "run.hpp"

namespace bregmax::python {
namespace {

// A number, or one of several by its name.
using Value = std::variant<double, std::string>;
using Given = std::variant<double, std::string, std::vector<Value>>;

double number_of(const BaselineParameter& parameter, const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return parameter.parse(*word);
  const double number = std::get<double>(value);
  // Positions among the choices are a matter of the library.
  if (!parameter.choices.empty()) {
    throw Error(fmt::format("{} is {}; allowed: {}", parameter.name, number, parameter.allowed()));
  }
  parameter.check(number);
  return number;
}

// One value is taken, several are tried; "auto": those that the library recommends.
std::vector<double> values_of(const BaselineParameter& parameter, const Given& given) {
  if (const auto* list = std::get_if<std::vector<Value>>(&given)) {
    std::vector<double> values;
    for (const Value& value : *list) values.push_back(number_of(parameter, value));
    if (values.empty()) throw Error(fmt::format("{} is []; allowed: at least one value to try", parameter.name));
    return values;
  }
  if (const auto* number = std::get_if<double>(&given)) return {number_of(parameter, *number)};
  const std::string& word = std::get<std::string>(given);
  if (word != "auto") return {number_of(parameter, word)};
  if (!parameter.grid.empty()) return parameter.grid;
  throw Error(
      fmt::format("{} is 'auto'; allowed: {}, or a list of these to choose from", parameter.name, parameter.allowed()));
}

MethodFitOptions plan_of(const BaselineMethod& method, Index rows, const nb::dict& options) {
  MethodFitOptions plan = recommended_method_options(rows);
  for (const auto& [name, given] : option<std::map<std::string, Given>>(options, "parameters")) {
    const std::vector<double> values = values_of(method.parameter(name), given);
    if (values.size() == 1) {
      plan.settings.parameters[name] = values.front();
    } else {
      plan.tried[name] = values;
    }
  }
  plan.settings.tolerance = option<std::optional<double>>(options, "tolerance");
  plan.settings.max_iterations = option<std::optional<int>>(options, "max_iterations");
  plan.settings.time_limit = option<std::optional<double>>(options, "time_limit").value_or(0);
  plan.settings.seed = option<std::uint64_t>(options, "seed");
  plan.scales = scales_named(option<std::string>(options, "scale"));
  return plan;
}

nb::dict parameters_as_dict(const BaselineMethod& method, const std::map<std::string, double>& parameters) {
  nb::dict dict;
  for (const BaselineParameter& parameter : method.parameters) {
    const double value = parameters.at(parameter.name);
    const char* name = parameter.name.c_str();
    if (!parameter.choices.empty()) {
      dict[name] = parameter.choices[static_cast<std::size_t>(value)];
    } else if (parameter.whole) {
      dict[name] = static_cast<std::int64_t>(value);
    } else {
      dict[name] = value;
    }
  }
  return dict;
}

// The model (None when the run ended before there was one) and what the method says about it.
nb::tuple outcome(const BaselineMethod& method, MethodFitResult&& result) {
  const BaselineReport& report = result.fit.report;
  nb::dict dict;
  dict["status"] = to_string(report.status);
  dict["objective"] = report.objective;
  dict["stationarity"] = report.stationarity;
  dict["iterations"] = report.iterations;
  dict["seconds"] = report.seconds;
  dict["scale"] = result.chosen_scale == Scale::kStandard ? "standard" : "none";
  dict["tuning_ended_early"] = result.tuning_ended_early;
  nb::object model = nb::none();
  if (result.fit.model.divergence) {
    dict["parameters"] = parameters_as_dict(method, result.fit.model.record.parameters);
    model = nb::cast(std::move(result.fit.model));
  }
  return nb::make_tuple(model, dict);
}

nb::tuple fit_labels(const std::string& name, const Rows& rows, const Integers& classes, const nb::dict& options,
                     const nb::object& on_progress) {
  const BaselineMethod& method = baseline_method(name);
  MethodFitOptions plan = plan_of(method, static_cast<Index>(rows.shape(0)), options);
  plan.all_pairs = option<bool>(options, "all_pairs");
  plan.tune_for = measure_named(option<std::string>(options, "tune_for"));
  plan.folds = option<int>(options, "folds");
  plan.repeats = option<std::optional<int>>(options, "repeats").value_or(plan.repeats);
  const std::vector<int> class_of_row = copy(classes);
  const auto work = [&method, rows, class_of_row, plan](const RunControl& control) {
    return fit_method_from_labels(method, view(rows), class_of_row, plan, control);
  };
  return outcome(method, run_interruptibly<MethodFitResult>(work, on_progress, option<int>(options, "threads")));
}

// Without labels there is nothing to choose by.
nb::tuple fit_given(const std::string& name, const Rows& rows, BaselineSupervision given, const nb::dict& options,
                    const nb::object& on_progress) {
  const BaselineMethod& method = baseline_method(name);
  const MethodFitOptions plan = plan_of(method, static_cast<Index>(rows.shape(0)), options);
  if (!plan.tried.empty() || plan.scales.size() > 1) {
    throw Error(fmt::format("{} is to be chosen by cross-validation, which needs labels to learn from; give one value",
                            plan.tried.empty() ? "scale" : plan.tried.begin()->first));
  }
  const auto work = [&method, rows, given = std::move(given), plan](const RunControl& control) {
    MethodFitResult result;
    result.chosen_scale = plan.scales.front();
    const auto features = view(rows);
    const Scaling scaling =
        result.chosen_scale == Scale::kNone ? Scaling::none(features.cols()) : Scaling::standard(features);
    result.fit = fit_baseline(method, features, given, scaling, plan.settings, control);
    return result;
  };
  return outcome(method, run_interruptibly<MethodFitResult>(work, on_progress, option<int>(options, "threads")));
}

nb::tuple fit_pairs(const std::string& name, const Rows& rows, const RowNumbers& items, const Integers& similar,
                    const Numbers& weights, const nb::dict& options, const nb::object& on_progress) {
  return fit_given(name, rows, pairs_of(items, similar, weights), options, on_progress);
}

nb::tuple fit_targets(const std::string& name, const Rows& rows, const RowNumbers& items, const Numbers& values,
                      const Numbers& weights, const nb::dict& options, const nb::object& on_progress) {
  return fit_given(name, rows, targets_of(items, values, weights), options, on_progress);
}

// Methods by name, with the parameters that each has.
nb::dict methods_as_dict() {
  nb::dict methods;
  for (const BaselineMethod& method : baseline_methods()) {
    nb::dict parameters;
    for (const BaselineParameter& parameter : method.parameters) {
      nb::dict entry;
      entry["help"] = parameter.help;
      entry["allowed"] = parameter.allowed();
      entry["standard"] = parameter.text(parameter.standard);
      entry["tuned"] = parameter.tuned;  // chosen by cross-validation from labels where nothing is said
      parameters[parameter.name.c_str()] = entry;
    }
    nb::dict entry;
    entry["summary"] = method.summary;
    entry["parameters"] = parameters;
    entry["tolerance"] = method.limits.tolerance;
    entry["max_iterations"] = method.limits.max_iterations;
    methods[method.name.c_str()] = entry;
  }
  return methods;
}

}  // namespace

void bind_methods(nb::module_& module) {
  const auto name = nb::arg("name");
  const auto rows = nb::arg("rows").noconvert();
  const auto items = nb::arg("items").noconvert();
  const auto weights = nb::arg("weights").noconvert();
  const auto options = nb::arg("options");
  const auto on_progress = nb::arg("on_progress").none();
  module.def("methods", &methods_as_dict);
  module.def("fit_method_labels", &fit_labels, name, rows, nb::arg("classes").noconvert(), options, on_progress);
  module.def("fit_method_pairs", &fit_pairs, name, rows, items, nb::arg("similar").noconvert(), weights, options,
             on_progress);
  module.def("fit_method_targets", &fit_targets, name, rows, items, nb::arg("values").noconvert(), weights, options,
             on_progress);
}

}  // namespace bregmax::python
