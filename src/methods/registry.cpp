#include "bregmax/methods/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bregmax/methods/pbdl.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "methods/methods.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {
namespace {

using internal::fail;
using internal::require;

void check_supervision(const Method& method, const MethodSupervision& supervision, Index rows) {
  const std::vector<std::string> names = method.supervision();
  const std::string given = supervision_name(supervision);
  require(std::ranges::count(names, given) > 0, "{} cannot learn from {}; allowed: {}", method.name, given,
          internal::joined(names, ", "));
  if (const auto* labels = std::get_if<ClassOfRow>(&supervision)) {
    internal::check_labels(*labels, rows, method.needs_supervision);
  }
  internal::check_given_items(supervision, rows);
}

void check_limits(const MethodLimits& limits) {
  const auto check = [](bool allowed, const char* what, double value, const char* range) {
    if (!allowed) fail("the {} is {}; allowed: {}", what, value, range);
  };
  const auto& [tolerance, max_iterations, time_limit] = limits;
  check(tolerance > 0 && std::isfinite(tolerance), "tolerance", tolerance, "a finite number > 0");
  check(time_limit >= 0 && std::isfinite(time_limit), "time limit", time_limit, "a finite number >= 0");
  check(max_iterations >= 1, "iteration limit", max_iterations, "1 or more");
}

// What a model file keeps of a run.
TrainingRecord make_record(const std::string& method, const MethodSupervision& supervision, const Learned& learned) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const MethodReport& report = learned.report;
  TrainingRecord record;
  static_cast<Proof&>(record) = {report.objective, kNan, kNan, kNan, kNan};
  record.method = record.solver = method;
  record.supervision = supervision_name(supervision);
  record.status = to_string(report.status);
  record.items = item_count(supervision);
  record.lambda = record.lipschitz_bound = kNan;
  record.stationarity = report.stationarity;
  record.iterations = report.iterations;
  record.seconds = report.seconds;
  if (const auto& proved = learned.proved) {
    static_cast<Proof&>(record) = {report.objective, report.loss, report.lipschitz, report.lower_bound,
                                   report.relative_gap};
    record.solver = proved->solver;
    record.items = proved->items;
    record.lambda = proved->lambda;
    record.lipschitz_bound = proved->lipschitz_bound;
    record.drawn = "given";
    record.constant = proved->constant;
  }
  return record;
}

}  // namespace

std::string to_string(Solver solver) {
  return solver == Solver::kAuto ? "auto" : solver == Solver::kExact ? "exact" : "admm";
}

std::string MethodParameter::allowed() const {
  if (!choices.empty()) return internal::joined(choices, " or ");
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
  const auto value = internal::number_in<double>(text);
  if (!choices.empty() || !value) fail("{} is '{}'; allowed: {}", name, text, allowed());
  check_number(*value);
  return *value;
}

std::string MethodParameter::text(double value) const {
  if (word && value == word->second) return word->first;
  const bool named = value >= 0 && value < static_cast<double>(choices.size());
  return named ? choices[static_cast<std::size_t>(value)] : fmt::format("{:.6g}", value);
}

void MethodParameter::check(double value) const {
  if (!(word && value == word->second)) check_number(value);
}

void MethodParameter::check_number(double value) const {
  const double top = choices.empty() ? high : static_cast<double>(choices.size()) - 1;
  const bool inside = (low_included ? value >= low : value > low) && value <= top && std::isfinite(value);
  const bool fraction_fits = !(whole || !choices.empty()) || value == std::floor(value);
  if (!inside || !fraction_fits) fail("{} is {}; allowed: {}", name, value, allowed());
}

std::vector<std::string> Method::supervision() const {
  std::vector<std::string> names;
  if (from_labels) names.emplace_back("labels");
  if (from_comparisons) names.emplace_back("comparisons");
  if (from_pairs) names.emplace_back("pairs");
  if (from_targets) names.emplace_back("targets");
  return names;
}

const MethodParameter& Method::parameter(std::string_view parameter_name) const {
  return internal::item_named(parameters, parameter_name, name + " has no parameter");
}

const std::vector<Method>& all_methods() {
  static const std::vector<Method> kMethods = {
      internal::pbdl_method(),       internal::smooth_method(),      internal::deep_method(),
      internal::euclidean_method(),  internal::mahalanobis_method(), internal::itml_method(),
      internal::gmml_method(),       internal::mlr_auc_method(),     internal::wu2009_method(),
      internal::lmnn_method(),       internal::gb_lmnn_method(),     internal::nca_method(),
      internal::kernel_nca_method(),
  };
  return kMethods;
}

const Method& method_named(std::string_view name) {
  return internal::item_named(all_methods(), name, "unknown method");
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
  check_limits(choices.limits);
  return choices;
}

Learned learn_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const MethodSettings& settings, const RunControl& control) {
  const MethodChoices choices = resolve(method, settings);
  internal::check_bounded_rows(rows);
  require(!settings.start || method.goes_on, "{} cannot go on from a model", method.name);
  // Only methods that learn from items take pairs of labels as they are; for others they are listed.
  const auto* of_labels = std::get_if<LabelPairs>(&supervision);
  if (of_labels != nullptr && !method.learns_from_items) {
    internal::check_labels(of_labels->class_of_row, rows.rows(), false);
    Pairs pairs;
    for (const Pair pair : *of_labels) pairs.push_back(pair);
    return learn_with(method, rows, pairs, settings, control);
  }
  check_supervision(method, supervision, rows.rows());
  require(settings.row_weights.empty() || method.weighs_rows,
          "{} does not weigh rows; smooth and deep do, and items have weights of their own", method.name);
  internal::check_row_weights(settings.row_weights, supervision, rows.rows());
  const bool labelled = std::holds_alternative<ClassOfRow>(supervision);
  const double items = labelled ? 0 : static_cast<double>(item_count(supervision));
  internal::check_demands(method,
                          {static_cast<double>(rows.rows()), static_cast<double>(rows.cols()), items,
                           std::holds_alternative<Comparisons>(supervision)},
                          choices);
  return method.learn(rows, supervision, choices, control);
}

void internal::check_demands(const Method& method, const FitSize& size, const MethodChoices& choices) {
  const SolverSettings& asked = choices.asked.solver;
  require(method.resumable || !asked.asks_to_resume(),
          "{} keeps no checkpoints and does not stop early on held-out data; smooth, deep, and pbdl with the solver "
          "admm do",
          method.name);
  if (!method.predicted_memory || asked.memory_limit == 0) return;
  constexpr double kGiga = 1e9;
  const double needed = method.predicted_memory(size, choices);
  require(needed <= asked.memory_limit,
          "{} would need {:.2g} GB of memory, above the limit of {:.2g} GB; fewer pieces, a smaller batch or smaller "
          "layers need less",
          method.name, needed / kGiga, asked.memory_limit / kGiga);
}

MethodFit internal::as_fit(Learned learned, const std::string& method, const MethodSupervision& supervision,
                           const Scaling& scaling, Index rows, std::uint64_t seed) {
  MethodFit fit;
  fit.report = learned.report;
  fit.model.scaling = scaling;
  fit.model.record = make_record(method, supervision, learned);
  fit.model.record.rows = rows;
  fit.model.record.seed = seed;
  fit.model.divergence = std::move(learned.divergence);
  fit.proved = std::move(learned.proved);
  return fit;
}

MethodFit fit_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const Scaling& scaling, const MethodSettings& settings, const RunControl& control) {
  internal::check_bounded_rows(rows);
  const Scaling& used = settings.start ? settings.start->scaling : scaling;
  const Matrix scaled = used.apply(rows);
  MethodFit fit = internal::as_fit(learn_with(method, scaled, supervision, settings, control), method.name, supervision,
                                   used, rows.rows(), settings.seed);
  // A record with a proof has separate fields for these.
  if (!fit.proved) {
    fit.model.record.parameters = resolve(method, settings).parameters;
    fit.model.record.constant = is_constant(*fit.model.divergence, scaled);
  }
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
