#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <variant>

#include "arrays.hpp"
#include "bregmax/learn/compare.hpp"
#include "bregmax/learn/run.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "learn/as_json.hpp"
#include "module.hpp"
#include "run.hpp"

namespace bregmax::python {
namespace {

// A number, or the name of a choice.
using Value = std::variant<double, std::string>;
using Given = std::variant<double, std::string, std::vector<Value>>;

double number_of(const MethodParameter& parameter, const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return parameter.parse(*word);
  const double number = std::get<double>(value);
  // Choices are given by name: their numbers are internal to the library.
  internal::require(parameter.choices.empty(), "{} is {}; allowed: {}", parameter.name, number, parameter.allowed());
  parameter.check_number(number);
  return number;
}

// A value, several in a list, or "auto".
Wish wish_of(const MethodParameter& parameter, const Given& given) {
  if (const auto* list = std::get_if<std::vector<Value>>(&given)) {
    internal::require(!list->empty(), "{} is []; allowed: at least one value to try", parameter.name);
    std::vector<double> values;
    for (const Value& value : *list) values.push_back(number_of(parameter, value));
    return Wish(std::move(values));
  }
  if (const auto* number = std::get_if<double>(&given)) return number_of(parameter, *number);
  const std::string& word = std::get<std::string>(given);
  return word == "auto" ? Wish::choose() : Wish(number_of(parameter, word));
}

std::vector<LabelSupervision> supervision_named(const std::string& name) {
  if (name == "auto") return {};
  for (const auto kind :
       {LabelSupervision::kAllPairs, LabelSupervision::kComparisons, LabelSupervision::kHardComparisons}) {
    if (to_string(kind) == name) return {kind};
  }
  internal::fail("supervision is '{}'; allowed: 'auto', 'all_pairs', 'comparisons' or 'hard_comparisons'", name);
}

Solver solver_named(const std::string& name) {
  return internal::value_named(std::array{Solver::kAuto, Solver::kExact, Solver::kAdmm}, name, "solver");
}

PlanThresholds thresholds_of_environment() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of ours changes it
  const char* text = std::getenv(kThresholdsVariable);
  return text != nullptr ? parse_thresholds(text) : PlanThresholds();
}

// Sets the field if the options have this entry and it is not None.
template <class Value, class Field>
void take(const nb::dict& options, const char* name, Field& field) {
  if (options.contains(name) && !options[name].is_none()) field = nb::cast<Value>(options[name]);
}

void take_parameters(const nb::dict& options, FitRequest& request) {
  const Method& method = method_named(request.method == "auto" ? "pbdl" : request.method);
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
  take<std::vector<std::string>>(options, "candidates", request.candidates);
  take_parameters(options, request);
  take<std::vector<int>>(options, "piece_of", request.piece_of);
  const auto take_named = [&options](const char* name, auto named, auto& field) {
    std::string word;
    take<std::string>(options, name, word);
    if (!word.empty()) field = named(word);
  };
  take_named("scale", scales_named, request.scales);
  take_named("supervision", supervision_named, request.supervision);
  take_named("tune_for", measure_named, request.tune_for);
  take_named("solver", solver_named, request.solver.solver);
  take<bool>(options, "early_stop", request.solver.early_stop);
  take<std::string>(options, "checkpoint", request.solver.checkpoint);
  take<double>(options, "checkpoint_every", request.solver.checkpoint_every);
  take<std::string>(options, "resume", request.solver.resume);
  take<Index>(options, "n_comparisons", request.comparisons);
  take<Index>(options, "hard_neighbors", request.hard_neighbours);
  take<bool>(options, "directed", request.directed_pairs);
  take<int>(options, "folds", request.folds);
  take<int>(options, "repeats", request.repeats);
  take<double>(options, "tolerance", request.tolerance);
  take<int>(options, "max_iterations", request.max_iterations);
  take<double>(options, "time_limit", request.time_limit);
  take<std::uint64_t>(options, "seed", request.seed);
  if (options.contains("start")) request.start = std::make_shared<Model>(nb::cast<Model>(options["start"]));
  request.names.row_targets = "y";
  request.thresholds = thresholds_of_environment();
  return request;
}

// Supervision from a dictionary of arrays; items have one row of row numbers each. {"classes": ...}, perhaps with
// "row_weights", {"row_targets": a number per row}, {"comparisons": items, "weights": ...}, {"pairs": items, "similar":
// ..., "weights": ...} or
// {"targets": items, "values": ..., "weights": ...}.
MethodSupervision supervision_of(const nb::dict& given) {
  if (given.contains("row_targets")) return {};  // which TrainingData has in place of supervision
  if (given.contains("classes")) return copy(nb::cast<Integers>(given["classes"]));
  const char* kind = given.contains("comparisons") ? "comparisons" : given.contains("pairs") ? "pairs" : "targets";
  const auto items = nb::cast<RowNumbers>(given[kind]);
  const auto weights = nb::cast<Numbers>(given["weights"]);
  const auto list_of = [&](std::size_t members, std::size_t values, const auto& item) {
    const std::size_t count = items.shape(0);
    internal::require(items.shape(1) == members && values == count && weights.shape(0) == count,
                      "{} has shape ({}, {}), with {} values and {} weights; expected ({}, {}) and {} of each", kind,
                      count, items.shape(1), values, weights.shape(0), count, members, count);
    std::vector<decltype(item(count))> list;
    list.reserve(count);
    for (std::size_t m = 0; m < count; ++m) list.push_back(item(m));
    return list;
  };
  if (given.contains("comparisons")) {
    return list_of(4, items.shape(0), [&](std::size_t m) {
      return Comparison{items(m, 0), items(m, 1), items(m, 2), items(m, 3), weights(m)};
    });
  }
  if (given.contains("pairs")) {
    const auto similar = nb::cast<Integers>(given["similar"]);
    return list_of(2, similar.shape(0), [&](std::size_t m) {
      return Pair{items(m, 0), items(m, 1), similar(m) != 0, weights(m)};
    });
  }
  const auto values = nb::cast<Numbers>(given["values"]);
  return list_of(2, values.shape(0), [&](std::size_t m) {
    return Target{items(m, 0), items(m, 1), values(m), weights(m)};
  });
}

std::vector<double> row_weights_of(const nb::dict& given) {
  if (!given.contains("row_weights")) return {};
  const auto weights = nb::cast<Numbers>(given["row_weights"]);
  return {weights.data(), weights.data() + weights.size()};
}

Vector row_targets_of(const nb::dict& given) {
  if (!given.contains("row_targets")) return {};
  return view(nb::cast<Numbers>(given["row_targets"]));
}

// Returns the model (None when the run ended before there was one) and what is known of it.
nb::tuple fit(const Rows& rows, const nb::dict& given, const nb::dict& options, const nb::object& on_progress) {
  const MethodSupervision supervision = supervision_of(given);
  const std::vector<double> weights = row_weights_of(given);
  const Vector row_targets = row_targets_of(given);
  Plan planned = plan(request_of(options), {view(rows), supervision, weights, row_targets});
  if (planned.has_choice()) take<std::string>(options, "scores_file", planned.scores_file);
  const auto work = [rows, supervision, weights, row_targets, planned](const RunControl& control) {
    return bregmax::run(planned, {view(rows), supervision, weights, row_targets}, control);
  };
  int threads = 0;
  take<int>(options, "threads", threads);
  FitOutcome outcome = run_interruptibly<FitOutcome>(work, on_progress, threads);
  const nb::object report = to_python(internal::outcome_as_json(planned, outcome));
  if (is_success(outcome.report.status) && !planned.scores_file.empty()) {
    std::filesystem::remove(planned.scores_file);
  }
  return nb::make_tuple(outcome.model.divergence ? nb::cast(std::move(outcome.model)) : nb::none(), report);
}

CompareRequest comparison_of(const nb::dict& options) {
  CompareRequest request;
  take<std::map<std::string, std::string>>(options, "names", request.names.renamed);
  take<std::vector<std::string>>(options, "methods", request.methods);
  std::string scale, measure;
  take<std::string>(options, "scale", scale);
  take<std::string>(options, "tune_for", measure);
  if (!scale.empty()) request.scales = scales_named(scale);
  if (!measure.empty()) request.tune_for = measure_named(measure);
  take<int>(options, "folds", request.folds);
  take<int>(options, "repeats", request.repeats);
  take<Index>(options, "rows", request.rows);
  take<bool>(options, "directed", request.directed_pairs);
  take<double>(options, "time_limit", request.time_limit);
  take<std::uint64_t>(options, "seed", request.seed);
  request.names.labels = "y";
  request.thresholds = thresholds_of_environment();
  return request;
}

// The table of methods, as `bregmax compare --json` prints it, with its text.
nb::object compare(const Rows& rows, const nb::dict& given, const nb::dict& options, const nb::object& on_progress) {
  const MethodSupervision supervision = supervision_of(given);
  ComparePlan planned = plan_comparison(comparison_of(options), {view(rows), supervision});
  take<std::string>(options, "out", planned.results_file);
  int threads = 0;
  take<int>(options, "threads", threads);
  const auto work = [rows, supervision, planned](const RunControl& control) {
    return bregmax::compare(planned, {view(rows), supervision}, 0, control);
  };
  const MethodTable table = run_interruptibly<MethodTable>(work, on_progress, threads);
  auto json = internal::method_table_as_json(planned, table);
  json["text"] = table.to_text();
  return to_python(json);
}

}  // namespace

void bind_fit(nb::module_& module) {
  module.def("fit", &fit, nb::arg("rows").noconvert(), nb::arg("given"), nb::arg("options"),
             nb::arg("on_progress").none());
  module.def("compare", &compare, nb::arg("rows").noconvert(), nb::arg("given"), nb::arg("options"),
             nb::arg("on_progress").none());
  module.def("methods", [] { return to_python(internal::methods_as_json()); });
}

}  // namespace bregmax::python
