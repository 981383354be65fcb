#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <variant>

#include "arrays.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/learn/fit_plan.hpp"
#include "items.hpp"
#include "module.hpp"
#include "run.hpp"

namespace bregmax::python {
namespace {

// A number, "auto" (chosen by cross-validation), or nothing: see plan_fit().
using Tunable = std::optional<std::variant<double, std::string>>;

FitWishes::Tunable tunable_option(const nb::dict& options, const char* name) {
  const auto given = option<Tunable>(options, name);
  if (!given) return {};
  if (const double* number = std::get_if<double>(&*given)) return {*number, false};
  const std::string& word = std::get<std::string>(*given);
  if (word != "auto") throw Error(fmt::format("{} is '{}'; allowed: a number >= 0 or 'auto'", name, word));
  return {std::nullopt, true};
}

void wish_pieces(const nb::dict& options, FitWishes& wishes) {
  const auto pieces = option<std::variant<int, std::string>>(options, "n_pieces");
  if (const int* number = std::get_if<int>(&pieces)) {
    wishes.pieces.value = *number;
    return;
  }
  const std::string& word = std::get<std::string>(pieces);
  if (word != "all" && word != "auto" && word != "theory") {
    throw Error(fmt::format("n_pieces is '{}'; allowed: a number, 'all', 'auto' or 'theory'", word));
  }
  wishes.pieces.automatic = word == "auto";
  wishes.theory_pieces = word == "theory";
}

std::optional<LabelSupervision> supervision_named(const std::string& name) {
  if (name == "auto") return std::nullopt;
  if (name == "all_pairs") return LabelSupervision::kAllPairs;
  if (name == "comparisons") return LabelSupervision::kComparisons;
  if (name == "hard_comparisons") return LabelSupervision::kHardComparisons;
  throw Error(
      fmt::format("supervision is '{}'; allowed: 'auto', 'all_pairs', 'comparisons' or 'hard_comparisons'", name));
}

void wish_from_labels(const nb::dict& options, FitWishes& wishes) {
  wishes.supervision = supervision_named(option<std::string>(options, "supervision"));
  wishes.comparisons = option<std::optional<Index>>(options, "n_comparisons");
  wishes.hard_neighbours = option<Index>(options, "hard_neighbors");
  wishes.tune_for = measure_named(option<std::string>(options, "tune_for"));
  wishes.repeats = option<std::optional<int>>(options, "repeats");
}

FitWishes wishes_of(const nb::dict& options) {
  FitWishes wishes;
  wishes.lambda = tunable_option(options, "lam");
  wishes.smoothing = tunable_option(options, "smoothing");
  if (const auto lambdas = option<std::optional<std::vector<double>>>(options, "lambdas")) wishes.lambdas = *lambdas;
  wish_pieces(options, wishes);
  if (const auto scale = option<std::optional<std::string>>(options, "scale")) wishes.scales = scales_named(*scale);
  wishes.folds = option<int>(options, "folds");
  if (const auto bound = option<std::optional<double>>(options, "lipschitz_bound")) {
    wishes.fit.lipschitz_bound = *bound;
  }
  wishes.fit.piece_of = option<std::optional<std::vector<int>>>(options, "piece_of");
  wishes.fit.tolerance = option<double>(options, "tolerance");
  wishes.fit.max_iterations = option<int>(options, "max_iterations");
  wishes.fit.time_limit = option<std::optional<double>>(options, "time_limit").value_or(0);
  wishes.fit.seed = option<std::uint64_t>(options, "seed");
  wishes.names = {"lam", "lambdas", "n_pieces", "tune_for", "n_comparisons"};
  return wishes;
}

// The model (None when the run ended before there was one) and what the solver says about it.
nb::tuple outcome(AutoFitResult&& result) {
  const SolveReport& report = result.fit.report;
  nb::dict dict;
  dict["status"] = to_string(report.status);
  dict["objective"] = report.objective;
  dict["dual_objective"] = report.lower_bound;
  dict["relative_gap"] = report.relative_gap;
  dict["loss"] = report.loss;
  dict["applied_loss"] = result.fit.applied_loss ? nb::cast(*result.fit.applied_loss) : nb::none();
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
  FitWishes wishes = wishes_of(options);
  wish_from_labels(options, wishes);
  const AutoFitOptions planned = plan_fit(wishes, view(rows), nullptr);
  const auto work = [rows, class_of_row, planned](const RunControl& control) {
    return fit_from_labels(view(rows), class_of_row, planned, control);
  };
  return outcome(run_interruptibly<AutoFitResult>(work, on_progress, option<int>(options, "threads")));
}

nb::tuple fit_given(const Rows& rows, const Supervision& given, const nb::dict& options,
                    const nb::object& on_progress) {
  const AutoFitOptions planned = plan_fit(wishes_of(options), view(rows), &given);
  const auto work = [rows, given, planned](const RunControl& control) {
    return fit_from_items(view(rows), given, planned, control);
  };
  return outcome(run_interruptibly<AutoFitResult>(work, on_progress, option<int>(options, "threads")));
}

nb::tuple fit_comparisons(const Rows& rows, const RowNumbers& items, const Numbers& weights, const nb::dict& options,
                          const nb::object& on_progress) {
  return fit_given(rows, comparisons_of(items, weights), options, on_progress);
}

nb::tuple fit_pairs(const Rows& rows, const RowNumbers& items, const Integers& similar, const Numbers& weights,
                    const nb::dict& options, const nb::object& on_progress) {
  return fit_given(rows, pairs_of(items, similar, weights), options, on_progress);
}

nb::tuple fit_targets(const Rows& rows, const RowNumbers& items, const Numbers& values, const Numbers& weights,
                      const nb::dict& options, const nb::object& on_progress) {
  return fit_given(rows, targets_of(items, values, weights), options, on_progress);
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
