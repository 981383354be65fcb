#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <variant>

#include "arrays.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/learn/run.hpp"
#include "bregmax/methods/pbdl.hpp"
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
  parameter.check_number(number);
  return number;
}

// A value, several in a list, or "auto".
Wish wish_of(const MethodParameter& parameter, const Given& given) {
  if (const auto* list = std::get_if<std::vector<Value>>(&given)) {
    if (list->empty()) throw Error(fmt::format("{} is []; allowed: at least one value to try", parameter.name));
    std::vector<double> values;
    for (const Value& value : *list) values.push_back(number_of(parameter, value));
    return Wish(std::move(values));
  }
  if (const auto* number = std::get_if<double>(&given)) return number_of(parameter, *number);
  const std::string& word = std::get<std::string>(given);
  return word == "auto" ? Wish::choose() : Wish(number_of(parameter, word));
}

LabelSupervision supervision_named(const std::string& name) {
  if (name == "all_pairs") return LabelSupervision::kAllPairs;
  if (name == "comparisons") return LabelSupervision::kComparisons;
  if (name == "hard_comparisons") return LabelSupervision::kHardComparisons;
  throw Error(
      fmt::format("supervision is '{}'; allowed: 'auto', 'all_pairs', 'comparisons' or 'hard_comparisons'", name));
}

Solver solver_named(const std::string& name) {
  for (const Solver solver : {Solver::kAuto, Solver::kExact, Solver::kAdmm}) {
    if (to_string(solver) == name) return solver;
  }
  throw Error(fmt::format("solver is '{}'; allowed: 'auto', 'exact' or 'admm'", name));
}

// Takes over an entry of the options that is there and not None.
template <class Value, class Field>
void take(const nb::dict& options, const char* name, Field& field) {
  if (options.contains(name) && !options[name].is_none()) field = nb::cast<Value>(options[name]);
}

void take_parameters(const nb::dict& options, FitRequest& request) {
  const Method& method = method_named(request.method);
  std::map<std::string, Given> given;
  take<std::map<std::string, Given>>(options, "parameters", given);
  for (const auto& [name, value] : given) {
    const std::string* word = std::get_if<std::string>(&value);
    if (name == "pieces" && word != nullptr && *word == "theory") {
      request.theory_pieces = true;
    } else {
      MethodParameter parameter = method.parameter(name);
      parameter.name = request.names(name);
      request.parameters[name] = wish_of(parameter, value);
    }
  }
  std::vector<double> lambdas;
  take<std::vector<double>>(options, "lambdas", lambdas);
  if (!lambdas.empty()) {
    request.parameters["lambda"].automatic = true;
    request.parameters["lambda"].grid = std::move(lambdas);
  }
}

FitRequest request_of(const nb::dict& options) {
  FitRequest request;
  take<std::map<std::string, std::string>>(options, "names", request.names.renamed);
  take<std::string>(options, "method", request.method);
  take_parameters(options, request);
  take<std::vector<int>>(options, "piece_of", request.piece_of);
  std::string scale, supervision, tune_for, solver;
  take<std::string>(options, "scale", scale);
  take<std::string>(options, "supervision", supervision);
  take<std::string>(options, "tune_for", tune_for);
  take<std::string>(options, "solver", solver);
  if (!scale.empty()) request.scales = scales_named(scale);
  if (!supervision.empty() && supervision != "auto") request.supervision = {supervision_named(supervision)};
  if (!tune_for.empty()) request.tune_for = measure_named(tune_for);
  if (!solver.empty()) request.solver.solver = solver_named(solver);
  take<Index>(options, "n_comparisons", request.comparisons);
  take<Index>(options, "hard_neighbors", request.hard_neighbours);
  take<int>(options, "folds", request.folds);
  take<int>(options, "repeats", request.repeats);
  take<double>(options, "tolerance", request.tolerance);
  take<int>(options, "max_iterations", request.max_iterations);
  take<double>(options, "time_limit", request.time_limit);
  take<std::uint64_t>(options, "seed", request.seed);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of ours changes it
  if (const char* text = std::getenv(kThresholdsVariable)) request.thresholds = parse_thresholds(text);
  return request;
}

nb::dict parameters_as_dict(const Method& method, const std::map<std::string, double>& parameters) {
  nb::dict dict;
  for (const MethodParameter& parameter : method.parameters) {
    const double value = parameters.at(parameter.name);
    const char* name = parameter.name.c_str();
    if (!parameter.choices.empty() || (parameter.word && value == parameter.word->second)) {
      dict[name] = parameter.text(value);
    } else if (parameter.whole) {
      dict[name] = static_cast<std::int64_t>(value);
    } else {
      dict[name] = value;
    }
  }
  return dict;
}

void add_proof(const FitOutcome& result, nb::dict& dict) {
  const MethodReport& report = result.report;
  dict["dual_objective"] = report.lower_bound;
  dict["relative_gap"] = report.relative_gap;
  dict["loss"] = report.loss;
  dict["applied_loss"] =
      result.proved && result.proved->applied_loss ? nb::cast(*result.proved->applied_loss) : nb::none();
  dict["lipschitz"] = report.lipschitz;
  dict["convexity_violation"] = report.convexity_violation;
  dict["lambda"] = result.chosen.parameters.at("lambda");
  dict["smoothing"] = result.chosen.parameters.at("smoothing");
  dict["solver"] = result.model.record.solver;
}

// The model (None when the run ended before there was one) and what is known of it.
nb::tuple outcome(const Plan& planned, FitOutcome&& result) {
  const MethodReport& report = result.report;
  nb::dict dict, plan_fields;
  dict["status"] = to_string(report.status);
  dict["objective"] = report.objective;
  if (planned.method->learns_from_items) {
    add_proof(result, dict);
  } else {
    dict["stationarity"] = report.stationarity;
  }
  dict["tolerance"] = result.tolerance;
  dict["iterations"] = report.iterations;
  dict["seconds"] = report.seconds;
  dict["scale"] = to_string(result.chosen_scale);
  dict["parameters"] = parameters_as_dict(*planned.method, resolve(*planned.method, result.chosen).parameters);
  dict["tuning_ended_early"] = result.tuning_ended_early;
  for (const Plan::Field& field : planned.fields()) plan_fields[field.name.c_str()] = nb::cast(field.values);
  dict["plan"] = plan_fields;
  nb::list diagnosis;
  for (const Finding& finding : result.diagnosis) {
    nb::dict entry;
    entry["kind"] = to_string(finding.kind);
    entry["cause"] = finding.cause;
    entry["text"] = finding.text;
    diagnosis.append(entry);
  }
  dict["diagnosis"] = diagnosis;
  nb::object model = nb::none();
  if (result.model.divergence) model = nb::cast(std::move(result.model));
  return nb::make_tuple(model, dict);
}

// `given`: {"classes": ...}, {"comparisons": items, "weights": ...}, {"pairs": items, "similar": ..., "weights": ...}
// or
// {"targets": items, "values": ..., "weights": ...}.
nb::tuple fit(const Rows& rows, const nb::dict& given, const nb::dict& options, const nb::object& on_progress) {
  const MethodSupervision supervision = supervision_of(given);
  const Plan planned = plan(request_of(options), {view(rows), supervision});
  const auto work = [rows, supervision, planned](const RunControl& control) {
    return bregmax::run(planned, {view(rows), supervision}, control);
  };
  int threads = 0;
  take<int>(options, "threads", threads);
  return outcome(planned, run_interruptibly<FitOutcome>(work, on_progress, threads));
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

void bind_fit(nb::module_& module) {
  module.def("fit", &fit, nb::arg("rows").noconvert(), nb::arg("given"), nb::arg("options"),
             nb::arg("on_progress").none());
  module.def("methods", &methods_as_dict);
  module.def("default_lambdas", [] { return to_numpy(default_lambdas()); });
}

}  // namespace bregmax::python
