#include <cmath>

#include "bregmax/learn/plan.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"

namespace bregmax {
namespace {

std::string supervision_text(const LabelSupervisionOptions& options) {
  if (options.kind == LabelSupervision::kAllPairs) return to_string(options.kind);
  const bool hard = options.kind == LabelSupervision::kHardComparisons;
  return fmt::format("{} {}{}", options.comparisons, to_string(options.kind),
                     hard ? fmt::format(" of {} neighbours", options.neighbours) : "");
}

// The parameters of which more than one value is tried: "decay 0.01, 0.001; scale standard, none".
std::string tried_text(const PlannedMethod& planned) {
  std::string text;
  for (const MethodParameter& parameter : planned.method->parameters) {
    const std::vector<double> values = planned.values(parameter.name);
    if (values.size() < 2) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", parameter.name,
                        internal::joined(values, ", ", [&](double value) { return parameter.text(value); }));
  }
  if (planned.scales.size() > 1) text += fmt::format("{}both scales", text.empty() ? "" : "; ");
  return text;
}

}  // namespace

Index PlannedMethod::candidates() const {
  std::size_t count = scales.size() * std::max<std::size_t>(1, supervision.size());
  for (const auto& [name, values] : tried) count *= values.size();
  return static_cast<Index>(count);
}

std::vector<double> PlannedMethod::values(const std::string& parameter) const {
  return FamilyOptions{*method, settings, tried}.values(parameter);
}

bool Plan::has_choice() const {
  Index candidates = 0;
  for (const PlannedMethod& planned : methods) candidates += planned.yardstick ? 0 : planned.candidates();
  return candidates > 1;
}

std::vector<Plan::Field> Plan::fields() const {
  std::vector<Field> list = {{"method", {}}};
  const auto add = [&list](const std::string& name, const auto& value) {
    list.push_back({name, {fmt::format("{}", value)}});
  };
  for (const PlannedMethod& planned : methods) {
    if (!planned.yardstick) list.front().values.push_back(planned.method->name);
  }
  for (const PlannedMethod& planned : methods) {
    if (planned.yardstick) continue;
    const std::string prefix = automatic ? planned.method->name + " " : "";
    if (!planned.supervision.empty()) {
      list.push_back({prefix + "supervision", {}});
      for (const LabelSupervisionOptions& one : planned.supervision) {
        list.back().values.push_back(supervision_text(one));
      }
    }
    list.push_back({prefix + "scale", {}});
    for (const Scale scale : planned.scales) list.back().values.push_back(to_string(scale));
    for (const MethodParameter& parameter : planned.method->parameters) {
      list.push_back({prefix + parameter.name, {}});
      for (const double value : planned.values(parameter.name)) list.back().values.push_back(parameter.text(value));
    }
    if (planned.method->learns_from_items) add(prefix + "solver", to_string(planned.settings.solver.solver));
    if (planned.settings.solver.early_stop) add(prefix + "early_stop", "yes");
  }
  if (target_pairs > 0) add("target_pairs", target_pairs);
  if (both_directions) add("pairs", "in both directions");
  const MethodSettings& settings = main().settings;
  if (settings.tolerance) add("tolerance", *settings.tolerance);
  if (settings.max_iterations) add("max_iterations", *settings.max_iterations);
  if (time_limit > 0) add("time_limit", time_limit);
  add("seed", seed);
  if (!has_choice()) return list;
  add("tune_for", to_string(tune_for));
  add("folds", folds);
  if (labelled || target_pairs > 0) add("repeats", repeats);
  if (tuning_rows > 0) add("tuning_rows", tuning_rows);
  return list;
}

std::string Plan::to_text() const {
  std::string text;
  for (const Field& field : fields())
    text += fmt::format("{:<14} {}\n", field.name, internal::joined(field.values, ", "));
  return text;
}

double Plan::predicted_seconds(int threads) const {
  double on_folds = 0, longest_fit = 0;
  for (const PlannedMethod& planned : methods) {
    on_folds += planned.seconds_of_folds + planned.seconds_of_scores;
    if (!planned.yardstick) longest_fit = std::max(longest_fit, planned.seconds_of_fit);
  }
  return (has_choice() ? on_folds / std::max(1, threads) : 0) + longest_fit;
}

std::string Plan::summary(int threads) const {
  Index candidates = 0;
  std::string lines;
  for (const PlannedMethod& planned : methods) {
    candidates += planned.candidates();
    const std::string tried = tried_text(planned);
    const std::string count = planned.candidates() == 1 ? "candidate" : "candidates";
    lines += fmt::format("  {:<11} {:>3} {}\n", planned.method->name, planned.candidates(),
                         tried.empty() ? count : fmt::format("{:<10}  {}", count, tried));
  }
  if (target_pairs > 0) {
    lines += fmt::format("  learned from the squared differences of {} pairs of rows\n", target_pairs);
  }
  const double seconds = predicted_seconds(threads);
  return fmt::format("plan: {} candidates on {} folds{}, the best by {}{}\n{}", candidates, folds,
                     repeats > 1 && (labelled || target_pairs > 0) ? fmt::format(", {} times", repeats) : "",
                     to_string(tune_for), std::isfinite(seconds) ? ", about " + internal::duration(seconds) : "",
                     lines);
}

}  // namespace bregmax
