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
#include "bregmax/learn/method_plan.hpp"
#include "items.hpp"
#include "module.hpp"
#include "run.hpp"

namespace bregmax::python {
namespace {

// A number, or one of several by its name.
using Value = std::variant<double, std::string>;
using Given = std::variant<double, std::string, std::vector<Value>>;

double number_of(const MethodParameter& parameter, const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return parameter.parse(*word);
  const double number = std::get<double>(value);
  // Positions among the choices are a matter of the library.
  if (!parameter.choices.empty()) {
    throw Error(fmt::format("{} is {}; allowed: {}", parameter.name, number, parameter.allowed()));
  }
  parameter.check(number);
  return number;
}

// A value, several in a list, or "auto".
MethodWishes::Parameter wish_of(const MethodParameter& parameter, const Given& given) {
  MethodWishes::Parameter wish;
  if (const auto* list = std::get_if<std::vector<Value>>(&given)) {
    for (const Value& value : *list) wish.values.push_back(number_of(parameter, value));
    if (list->empty()) throw Error(fmt::format("{} is []; allowed: at least one value to try", parameter.name));
  } else if (const auto* number = std::get_if<double>(&given)) {
    wish.values = {number_of(parameter, *number)};
  } else {
    const std::string& word = std::get<std::string>(given);
    wish.automatic = word == "auto";
    if (!wish.automatic) wish.values = {number_of(parameter, word)};
  }
  return wish;
}

MethodWishes wishes_of(const Method& method, const nb::dict& options) {
  MethodWishes wishes;
  for (const auto& [name, given] : option<std::map<std::string, Given>>(options, "parameters")) {
    wishes.parameters[name] = wish_of(method.parameter(name), given);
  }
  wishes.settings.tolerance = option<std::optional<double>>(options, "tolerance");
  wishes.settings.max_iterations = option<std::optional<int>>(options, "max_iterations");
  wishes.settings.time_limit = option<std::optional<double>>(options, "time_limit").value_or(0);
  wishes.settings.seed = option<std::uint64_t>(options, "seed");
  wishes.scales = scales_named(option<std::string>(options, "scale"));
  return wishes;
}

nb::dict parameters_as_dict(const Method& method, const std::map<std::string, double>& parameters) {
  nb::dict dict;
  for (const MethodParameter& parameter : method.parameters) {
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
nb::tuple outcome(const Method& method, MethodFitResult&& result) {
  const MethodReport& report = result.fit.report;
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
  const Method& method = method_named(name);
  MethodWishes wishes = wishes_of(method, options);
  wishes.all_pairs = option<bool>(options, "all_pairs");
  wishes.tune_for = measure_named(option<std::string>(options, "tune_for"));
  wishes.folds = option<int>(options, "folds");
  wishes.repeats = option<std::optional<int>>(options, "repeats");
  const MethodFitOptions plan = plan_method(wishes, method, static_cast<Index>(rows.shape(0)), true);
  const std::vector<int> class_of_row = copy(classes);
  const auto work = [&method, rows, class_of_row, plan](const RunControl& control) {
    return fit_method_from_labels(method, view(rows), class_of_row, plan, control);
  };
  return outcome(method, run_interruptibly<MethodFitResult>(work, on_progress, option<int>(options, "threads")));
}

nb::tuple fit_given(const std::string& name, const Rows& rows, MethodSupervision given, const nb::dict& options,
                    const nb::object& on_progress) {
  const Method& method = method_named(name);
  const MethodFitOptions plan =
      plan_method(wishes_of(method, options), method, static_cast<Index>(rows.shape(0)), false);
  const auto work = [&method, rows, given = std::move(given), plan](const RunControl& control) {
    return fit_method_from_items(method, view(rows), given, plan, control);
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
  for (const Method& method : all_methods()) {
    nb::dict parameters;
    for (const MethodParameter& parameter : method.parameters) {
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
