#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <variant>

#include "arrays.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/learn/auto_fit.hpp"
#include "module.hpp"
#include "run.hpp"

namespace bregmax::python {
namespace {

// A number, "auto" (chosen by cross-validation), or nothing: see plan().
using Tunable = std::optional<std::variant<double, std::string>>;

template <class Value>
Value option(const nb::dict& options, const char* name) {
  return nb::cast<Value>(options[name]);
}

std::optional<double> number_of(const Tunable& tunable, const char* name) {
  if (!tunable || std::holds_alternative<std::string>(*tunable)) {
    if (tunable && std::get<std::string>(*tunable) != "auto") {
      throw Error(fmt::format("{} is '{}'; allowed: a number >= 0 or 'auto'", name, std::get<std::string>(*tunable)));
    }
    return std::nullopt;
  }
  return std::get<double>(*tunable);
}

FitOptions fixed_options(const nb::dict& options) {
  FitOptions fixed;
  if (const auto bound = option<std::optional<double>>(options, "lipschitz_bound")) fixed.lipschitz_bound = *bound;
  fixed.piece_of = option<std::optional<std::vector<int>>>(options, "piece_of");
  fixed.tolerance = option<double>(options, "tolerance");
  fixed.max_iterations = option<int>(options, "max_iterations");
  fixed.time_limit = option<std::optional<double>>(options, "time_limit").value_or(0);
  fixed.seed = option<std::uint64_t>(options, "seed");
  return fixed;
}

std::vector<int> pieces_to_try(const nb::dict& options, Index rows) {
  const auto pieces = option<std::variant<int, std::string>>(options, "pieces");
  if (const int* number = std::get_if<int>(&pieces)) {
    if (*number < 1 || *number > rows) {
      throw Error(fmt::format("n_pieces is {}; allowed: 1 to {}, the number of rows, 'all' or 'auto'", *number, rows));
    }
    return {*number};
  }
  const std::string& word = std::get<std::string>(pieces);
  if (word != "all" && word != "auto")
    throw Error(fmt::format("n_pieces is '{}'; allowed: a number, 'all' or 'auto'", word));
  std::vector<int> tried = {0};
  for (const Index share : {2, 4, 8}) {
    if (word == "auto" && rows / share > 1) tried.push_back(static_cast<int>(rows / share));
  }
  return tried;
}

// Not given: what the library recommends where lambda is chosen from labels, standardised features otherwise.
void plan_scales(const std::optional<std::string>& scale, bool choose_more, AutoFitOptions& plan) {
  if (!scale) {
    if (!choose_more) plan.scales = {Scale::kStandard};
  } else if (*scale == "auto") {
    plan.scales = {Scale::kStandard, Scale::kNone};
  } else if (*scale == "standard" || *scale == "none") {
    plan.scales = {*scale == "none" ? Scale::kNone : Scale::kStandard};
  } else {
    throw Error(fmt::format("scale is '{}'; allowed: 'standard', 'none' or 'auto'", *scale));
  }
}

LabelSupervisionOptions label_supervision(const nb::dict& options, LabelSupervisionOptions supervision) {
  const auto kind = option<std::string>(options, "supervision");
  if (kind == "all_pairs") {
    supervision.kind = LabelSupervision::kAllPairs;
  } else if (kind == "comparisons") {
    supervision.kind = LabelSupervision::kComparisons;
  } else if (kind == "hard_comparisons") {
    supervision.kind = LabelSupervision::kHardComparisons;
  } else if (kind != "auto") {
    throw Error(
        fmt::format("supervision is '{}'; allowed: 'auto', 'all_pairs', 'comparisons' or 'hard_comparisons'", kind));
  }
  const auto comparisons = option<std::optional<Index>>(options, "n_comparisons");
  if (kind == "auto" && comparisons) supervision.kind = LabelSupervision::kComparisons;
  supervision.comparisons = comparisons.value_or(supervision.kind == LabelSupervision::kHardComparisons ? 0 : 2000);
  supervision.neighbours = option<Index>(options, "hard_neighbors");
  supervision.seed = option<std::uint64_t>(options, "seed");
  return supervision;
}

// The same rules as those of `bregmax fit`: lambda is chosen unless it is given, or the supervision are targets. With
// it are chosen, where labels say what is good, the smoothing and the scaling, unless they are given.
AutoFitOptions plan(const nb::dict& options, Index rows, const Supervision* given) {
  AutoFitOptions plan = recommended_options(rows);
  plan.fit = fixed_options(options);
  plan.pieces = plan.fit.piece_of ? std::vector<int>{0} : pieces_to_try(options, rows);
  plan.folds = option<int>(options, "folds");
  if (given == nullptr) plan.supervision = {label_supervision(options, plan.supervision.front())};
  const bool pairs_of_rows = given == nullptr && plan.supervision.front().kind == LabelSupervision::kAllPairs;
  plan.lambdas = pairs_of_rows ? all_pairs_lambdas() : default_lambdas();
  const auto lambda = option<Tunable>(options, "lam");
  const auto lambdas = option<std::optional<std::vector<double>>>(options, "lambdas");
  if (lambdas) plan.lambdas = *lambdas;
  if (const std::optional<double> number = number_of(lambda, "lam")) {
    if (lambdas) throw Error("lambdas are the values that lam='auto' tries; it does not go with a number for lam");
    plan.lambdas = {*number};
  } else if (given != nullptr && std::holds_alternative<Targets>(*given) && !lambda && !lambdas) {
    plan.lambdas = {0};
  }
  const bool choose_more = given == nullptr && plan.lambdas.size() > 1;
  plan_scales(option<std::optional<std::string>>(options, "scale"), choose_more, plan);
  const auto smoothing = option<Tunable>(options, "smoothing");
  if (const std::optional<double> number = number_of(smoothing, "smoothing")) {
    plan.temperatures = {*number};
  } else if (!smoothing && !choose_more) {
    plan.temperatures = {0};
  }
  plan.tune_for = given != nullptr ? Measure::kLoss : measure_named(option<std::string>(options, "tune_for"));
  return plan;
}

// The model (None when the run ended before there was one) and what the solver says about it.
nb::tuple outcome(AutoFitResult&& result) {
  const SolveReport& report = result.fit.report;
  nb::dict dict;
  dict["status"] = to_string(report.status);
  dict["objective"] = report.objective;
  dict["dual_objective"] = report.dual_objective;
  dict["relative_gap"] = report.relative_gap;
  dict["loss"] = report.loss;
  dict["lipschitz"] = report.lipschitz;
  dict["iterations"] = report.iterations;
  dict["seconds"] = report.seconds;
  dict["convexity_violation"] = report.convexity_violation;
  dict["lambda"] = result.chosen.lambda;
  dict["smoothing"] = result.chosen.smoothing;
  dict["scale"] = result.chosen.scale == Scale::kStandard ? "standard" : "none";
  dict["tuning_ended_early"] = result.tuning_ended_early;
  nb::object model = nb::none();
  if (result.fit.model.divergence) model = nb::cast(std::move(result.fit.model));
  return nb::make_tuple(model, dict);
}

nb::tuple fit_labels(const Rows& rows, const Integers& classes, const nb::dict& options,
                     const nb::object& on_progress) {
  const std::vector<int> class_of_row = copy(classes);
  const AutoFitOptions planned = plan(options, static_cast<Index>(rows.shape(0)), nullptr);
  const auto work = [rows, class_of_row, planned](const RunControl& control) {
    return fit_from_labels(view(rows), class_of_row, planned, control);
  };
  return outcome(run_interruptibly<AutoFitResult>(work, on_progress, option<int>(options, "threads")));
}

nb::tuple fit_given(const Rows& rows, const Supervision& given, const nb::dict& options,
                    const nb::object& on_progress) {
  const AutoFitOptions planned = plan(options, static_cast<Index>(rows.shape(0)), &given);
  const auto work = [rows, given, planned](const RunControl& control) {
    return fit_from_items(view(rows), given, planned, control);
  };
  return outcome(run_interruptibly<AutoFitResult>(work, on_progress, option<int>(options, "threads")));
}

// items: one row of row numbers an item.
void check_items(const RowNumbers& items, std::size_t members, const Numbers& weights) {
  if (items.shape(1) != members || weights.shape(0) != items.shape(0)) throw Error("items and weights do not fit");
}

nb::tuple fit_comparisons(const Rows& rows, const RowNumbers& items, const Numbers& weights, const nb::dict& options,
                          const nb::object& on_progress) {
  check_items(items, 4, weights);
  Comparisons list;
  for (std::size_t m = 0; m < items.shape(0); ++m) {
    list.push_back({items(m, 0), items(m, 1), items(m, 2), items(m, 3), weights(m)});
  }
  return fit_given(rows, list, options, on_progress);
}

nb::tuple fit_pairs(const Rows& rows, const RowNumbers& items, const Integers& similar, const Numbers& weights,
                    const nb::dict& options, const nb::object& on_progress) {
  check_items(items, 2, weights);
  if (similar.shape(0) != items.shape(0)) throw Error("items and similar do not fit");
  Pairs list;
  for (std::size_t m = 0; m < items.shape(0); ++m) {
    list.push_back({items(m, 0), items(m, 1), similar(m) != 0, weights(m)});
  }
  return fit_given(rows, list, options, on_progress);
}

nb::tuple fit_targets(const Rows& rows, const RowNumbers& items, const Numbers& values, const Numbers& weights,
                      const nb::dict& options, const nb::object& on_progress) {
  check_items(items, 2, weights);
  if (values.shape(0) != items.shape(0)) throw Error("items and values do not fit");
  Targets list;
  for (std::size_t m = 0; m < items.shape(0); ++m) {
    list.push_back({items(m, 0), items(m, 1), values(m), weights(m)});
  }
  return fit_given(rows, list, options, on_progress);
}

}  // namespace

void bind_fit(nb::module_& module) {
  const auto rows = nb::arg("rows").noconvert();
  const auto items = nb::arg("items").noconvert();
  const auto weights = nb::arg("weights").noconvert();
  const auto options = nb::arg("options");
  const auto on_progress = nb::arg("on_progress").none();
  module.def("fit_labels", &fit_labels, rows, nb::arg("classes").noconvert(), options, on_progress);
  module.def("fit_comparisons", &fit_comparisons, rows, items, weights, options, on_progress);
  module.def("fit_pairs", &fit_pairs, rows, items, nb::arg("similar").noconvert(), weights, options, on_progress);
  module.def("fit_targets", &fit_targets, rows, items, nb::arg("values").noconvert(), weights, options, on_progress);
  module.def("default_lambdas", [] { return to_numpy(default_lambdas()); });
}

}  // namespace bregmax::python
