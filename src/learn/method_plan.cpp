#include "bregmax/learn/method_plan.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

std::vector<double> values_of(const MethodParameter& parameter, const MethodWishes::Parameter& wish,
                              const MethodWishes::Names& names) {
  if (!wish.automatic) {
    for (const double value : wish.values) parameter.check(value);
    return wish.values;
  }
  if (parameter.grid.empty()) {
    throw Error(fmt::format("{} is 'auto'; allowed: {}, or {} to choose from", parameter.name, parameter.allowed(),
                            names.several_values));
  }
  return parameter.grid;
}

void refuse_choice(const MethodFitOptions& plan, const MethodWishes::Names& names) {
  if (plan.tried.empty() && plan.scales.size() == 1) return;
  throw Error(fmt::format("{} is to be chosen by cross-validation, which needs labels to learn from; give one value",
                          plan.tried.empty() ? names.scale : plan.tried.begin()->first));
}

}  // namespace

MethodFitOptions plan_method(const MethodWishes& wishes, const Method& method, Index rows, bool from_labels) {
  MethodFitOptions plan = recommended_method_options(rows);
  plan.settings = wishes.settings;
  plan.settings.parameters.clear();
  for (const auto& [name, wish] : wishes.parameters) {
    const std::vector<double> values = values_of(method.parameter(name), wish, wishes.names);
    if (values.size() == 1) {
      plan.settings.parameters[name] = values.front();
    } else {
      plan.tried[name] = values;
    }
  }
  if (!wishes.scales.empty()) plan.scales = wishes.scales;
  if (!from_labels) refuse_choice(plan, wishes.names);
  plan.all_pairs = wishes.all_pairs;
  plan.tune_for = wishes.tune_for.value_or(plan.tune_for);
  plan.folds = wishes.folds.value_or(plan.folds);
  plan.repeats = wishes.repeats.value_or(plan.repeats);
  return plan;
}

}  // namespace bregmax
