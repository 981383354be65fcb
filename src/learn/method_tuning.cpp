#include "bregmax/learn/method_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bregmax/core/error.hpp"
#include "bregmax/learn/auto_fit.hpp"
#include "bregmax/supervision/sample.hpp"
#include "learn/learning_parts.hpp"
#include "learn/repeated_folds.hpp"

namespace bregmax {
namespace {

struct Candidate {
  Scale scale;
  std::map<std::string, double> parameters;  // those that are given and those that are tried
  Settings settings;                         // what distinguishes it, for the table
};

MethodSupervision supervision_of(const std::vector<int>& class_of_row, bool as_pairs) {
  if (as_pairs) return all_pairs(class_of_row);
  return class_of_row;
}

Setting setting_of(const MethodParameter& parameter, double value) {
  return {parameter.name, value, parameter.choices.empty() ? "" : parameter.text(value)};
}

// Every combination; the last parameter changes fastest.
std::vector<Candidate> candidates_of(const Method& method, const MethodFitOptions& options) {
  if (options.scales.empty()) throw Error("there is no scale to try; at least one is needed");
  std::vector<Candidate> candidates;
  candidates.reserve(options.scales.size());
  for (const Scale scale : options.scales) candidates.push_back({scale, options.settings.parameters, {}});
  for (const auto& [name, values] : tuned_parameters(method, options)) {
    std::vector<Candidate> longer;
    for (const Candidate& candidate : candidates) {
      for (const double value : values) {
        longer.push_back(candidate);
        longer.back().parameters[name] = value;
        longer.back().settings.push_back(setting_of(method.parameter(name), value));
      }
    }
    candidates = std::move(longer);
  }
  for (Candidate& candidate : candidates) {
    candidate.settings.push_back({"scale", 0, candidate.scale == Scale::kStandard ? "standard" : "none"});
  }
  return candidates;
}

// What all candidates share on the folds.
struct FoldFits {
  const Method& method;
  std::vector<Candidate> candidates;
  MethodSettings settings;
  bool all_pairs;
};

class MethodLearner final : public FoldLearner {
 public:
  MethodLearner(const FoldFits& fits, const Fold& fold)
      : fits_(fits),
        fold_(fold),
        supervision_(supervision_of(fold.train_classes, fits.all_pairs)),
        models_(fits.candidates.size()) {}

  std::vector<LearnStep> steps() const override {
    std::vector<LearnStep> steps(models_.size());
    for (std::size_t c = 0; c < steps.size(); ++c) steps[c].candidates = {c};
    return steps;
  }

  StepOutcome run(std::size_t step, const RunControl& control) override {
    const Candidate& candidate = fits_.candidates[step];
    MethodSettings settings = fits_.settings;
    settings.parameters = candidate.parameters;
    settings.seed ^= fold_.seed;
    try {
      MethodFit fit = fit_with(fits_.method, fold_.train_rows, supervision_,
                               internal::make_scaling(fold_.train_rows, candidate.scale), settings, control);
      models_[step] = std::move(fit.model);
      return fit.report.status == Status::kConverged ? StepOutcome::kSolved : StepOutcome::kUnproved;
    } catch (const Error& error) {
      throw CandidateFailure(error.what());
    }
  }

  Model model(std::size_t candidate) const override { return models_[candidate]; }

 private:
  const FoldFits& fits_;
  const Fold& fold_;
  MethodSupervision supervision_;
  std::vector<Model> models_;
};

class MethodFamily final : public CandidateFamily {
 public:
  MethodFamily(const Method& method, const MethodFitOptions& options)
      : fits_{method, candidates_of(method, options), options.settings, options.all_pairs} {
    fits_.settings.time_limit = 0;  // tune() has the clock
    const double own = options.settings.tolerance.value_or(method.limits.tolerance);
    fits_.settings.tolerance = std::max(own, options.tuning_tolerance);
  }

  std::vector<Settings> candidates() const override {
    std::vector<Settings> list;
    list.reserve(fits_.candidates.size());
    for (const Candidate& candidate : fits_.candidates) list.push_back(candidate.settings);
    return list;
  }

  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<MethodLearner>(fits_, fold);
  }

 private:
  FoldFits fits_;
};

void check_options(const Method& method, const MatrixView& rows, const std::vector<int>& class_of_row,
                   const MethodFitOptions& options) {
  internal::check_rows(rows);
  if (static_cast<Index>(class_of_row.size()) != rows.rows()) {
    throw Error(fmt::format("there are {} classes for {} rows; allowed: one a row", class_of_row.size(), rows.rows()));
  }
  if (options.all_pairs ? !method.from_pairs : !method.from_labels) {
    throw Error(fmt::format("{} cannot learn from {}", method.name, options.all_pairs ? "pairs" : "labels"));
  }
  if (!(options.tuning_tolerance > 0)) {
    throw Error(fmt::format("tuning_tolerance is {}; allowed: a number > 0", options.tuning_tolerance));
  }
}

void keep_best_so_far(MethodFitResult& result) {
  result.tuning_ended_early = true;
  MethodReport& report = result.fit.report;
  report.status = result.tuning.status == Status::kStopped ? Status::kStopped : Status::kTimeLimit;
  if (!result.tuning.best_so_far) return;
  result.fit.model = *result.tuning.best_so_far;
  TrainingRecord& record = result.fit.model.record;
  record.status = to_string(report.status);
  report.iterations = record.iterations;
  report.objective = record.objective;
  report.stationarity = record.stationarity;
  report.seconds = record.seconds;
}

}  // namespace

MethodFitOptions recommended_method_options(Index rows) {
  const AutoFitOptions recommended = recommended_options(rows);
  MethodFitOptions options;
  options.repeats = recommended.repeats;
  options.evaluation = recommended.evaluation;
  return options;
}

std::vector<std::pair<std::string, std::vector<double>>> tuned_parameters(const Method& method,
                                                                          const MethodFitOptions& options) {
  for (const auto& [name, value] : options.settings.parameters) method.parameter(name).check(value);
  for (const auto& [name, values] : options.tried) {
    for (const double value : values) method.parameter(name).check(value);
    if (values.empty()) throw Error(fmt::format("there is no value of {} to try; at least one is needed", name));
    if (options.settings.parameters.contains(name)) {
      throw Error(fmt::format("{} is given, and values to try are given, too; allowed: one of the two", name));
    }
  }
  std::vector<std::pair<std::string, std::vector<double>>> tuned;
  for (const MethodParameter& parameter : method.parameters) {
    if (const auto given = options.tried.find(parameter.name); given != options.tried.end()) {
      tuned.emplace_back(parameter.name, given->second);
    } else if (parameter.tuned && !options.settings.parameters.contains(parameter.name)) {
      tuned.emplace_back(parameter.name, parameter.grid);
    }
  }
  return tuned;
}

bool has_choice(const Method& method, const MethodFitOptions& options) {
  const auto tuned = tuned_parameters(method, options);
  return options.scales.size() > 1 ||
         std::any_of(tuned.begin(), tuned.end(), [](const auto& parameter) { return parameter.second.size() > 1; });
}

CandidateFamilies method_families(const Method& method, const MethodFitOptions& options) {
  return {std::make_shared<MethodFamily>(method, options)};
}

MethodFitResult fit_method_from_labels(const Method& method, const MatrixView& rows,
                                       const std::vector<int>& class_of_row, const MethodFitOptions& options,
                                       const RunControl& control) {
  check_options(method, rows, class_of_row, options);
  const std::vector<Candidate> candidates = candidates_of(method, options);
  const double time_limit = options.settings.time_limit;
  MethodFitResult result;
  result.chosen = options.settings;
  if (candidates.size() > 1) {
    const auto folds =
        internal::repeated_folds(rows, class_of_row, {options.folds, options.repeats, options.settings.seed});
    result.tuning =
        tune(folds, method_families(method, options), {options.tune_for, options.evaluation, 0, time_limit}, control);
    // A limit of 0 would be none: what is left, if only a little.
    if (time_limit > 0) result.chosen.time_limit = std::max(1e-9, time_limit - result.tuning.record.seconds);
  }
  // An early end may have none yet.
  const Candidate& chosen = candidates[static_cast<std::size_t>(std::max<Index>(0, result.tuning.record.chosen))];
  result.chosen.parameters = chosen.parameters;
  result.chosen_scale = chosen.scale;
  if (result.tuning.status != Status::kOptimal) {
    keep_best_so_far(result);
  } else {
    result.fit = fit_with(method, rows, supervision_of(class_of_row, options.all_pairs),
                          internal::make_scaling(rows, chosen.scale), result.chosen, control);
  }
  result.fit.model.tuning = result.tuning.record;
  return result;
}

MethodFitResult fit_method_from_items(const Method& method, const MatrixView& rows, const MethodSupervision& items,
                                      const MethodFitOptions& options, const RunControl& control) {
  if (!options.tried.empty() || options.scales.size() != 1) {
    throw Error("there is a choice to make, and nothing to choose by; allowed: one scale and no values to try");
  }
  MethodFitResult result;
  result.chosen = options.settings;
  result.chosen_scale = options.scales.front();
  result.fit = fit_with(method, rows, items, internal::make_scaling(rows, result.chosen_scale), result.chosen, control);
  return result;
}

}  // namespace bregmax
