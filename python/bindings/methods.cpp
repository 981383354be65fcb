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
#include "bregmax/baselines/registry.hpp"
#include "bregmax/learn/fit_plan.hpp"
#include "bregmax/supervision/sample.hpp"
#include "items.hpp"
#include "module.hpp"
#include "run.hpp"

namespace bregmax::python {
namespace {

// A number, or one of several by its name.
using Value = std::variant<double, std::string>;

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

const BaselineParameter& parameter_named(const BaselineMethod& method, const std::string& name) {
  for (const BaselineParameter& parameter : method.parameters) {
    if (parameter.name == name) return parameter;
  }
  throw Error(fmt::format("{} has no parameter '{}'", method.name, name));
}

BaselineSettings settings_of(const BaselineMethod& method, const nb::dict& options) {
  BaselineSettings settings;
  for (const auto& [name, value] : option<std::map<std::string, Value>>(options, "parameters")) {
    settings.parameters[name] = number_of(parameter_named(method, name), value);
  }
  settings.tolerance = option<std::optional<double>>(options, "tolerance");
  settings.max_iterations = option<std::optional<int>>(options, "max_iterations");
  settings.time_limit = option<std::optional<double>>(options, "time_limit").value_or(0);
  settings.seed = option<std::uint64_t>(options, "seed");
  return settings;
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

nb::tuple outcome(const BaselineMethod& method, BaselineFit&& fit) {
  nb::dict dict;
  dict["status"] = to_string(fit.report.status);
  dict["objective"] = fit.report.objective;
  dict["stationarity"] = fit.report.stationarity;
  dict["iterations"] = fit.report.iterations;
  dict["seconds"] = fit.report.seconds;
  dict["parameters"] = parameters_as_dict(method, fit.model.record.parameters);
  dict["tuning_ended_early"] = false;
  return nb::make_tuple(nb::cast(std::move(fit.model)), dict);
}

nb::tuple fit_method(const std::string& name, const Rows& rows, BaselineSupervision supervision,
                     const nb::dict& options, const nb::object& on_progress) {
  const BaselineMethod& method = baseline_method(name);
  const BaselineSettings settings = settings_of(method, options);
  const Scale scale = scales_named(option<std::string>(options, "scale")).front();
  const auto work = [&method, rows, supervision = std::move(supervision), settings, scale](const RunControl& control) {
    const auto features = view(rows);
    const Scaling scaling = scale == Scale::kNone ? Scaling::none(features.cols()) : Scaling::standard(features);
    return fit_baseline(method, features, supervision, scaling, settings, control);
  };
  return outcome(method, run_interruptibly<BaselineFit>(work, on_progress, option<int>(options, "threads")));
}

nb::tuple fit_labels(const std::string& name, const Rows& rows, const Integers& classes, const nb::dict& options,
                     const nb::object& on_progress) {
  const std::vector<int> class_of_row = copy(classes);
  if (option<bool>(options, "all_pairs")) return fit_method(name, rows, all_pairs(class_of_row), options, on_progress);
  return fit_method(name, rows, class_of_row, options, on_progress);
}

nb::tuple fit_pairs(const std::string& name, const Rows& rows, const RowNumbers& items, const Integers& similar,
                    const Numbers& weights, const nb::dict& options, const nb::object& on_progress) {
  return fit_method(name, rows, pairs_of(items, similar, weights), options, on_progress);
}

nb::tuple fit_targets(const std::string& name, const Rows& rows, const RowNumbers& items, const Numbers& values,
                      const Numbers& weights, const nb::dict& options, const nb::object& on_progress) {
  return fit_method(name, rows, targets_of(items, values, weights), options, on_progress);
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
