#include "bregmax/learn/run.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/checks.hpp"
#include "learn/diagnosis.hpp"
#include "methods/item_losses.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {
namespace {

using internal::require;

const ClassOfRow& classes_of(const TrainingData& data) { return std::get<ClassOfRow>(data.supervision); }

// What the method learns from on all rows. `kind`: index into plan.supervision.
MethodSupervision draw_supervision(const Plan& plan, const TrainingData& data, Scale scale, std::size_t kind) {
  if (!data.labelled() || plan.supervision.empty()) return data.supervision;
  const LabelSupervisionOptions& options = plan.supervision[kind];
  if (!plan.method->learns_from_items) return all_pairs(classes_of(data));
  // Only hard comparisons look at the rows.
  const bool hard = options.kind == LabelSupervision::kHardComparisons;
  const Matrix rows = hard ? make_scaling(data.rows, scale).apply(data.rows) : Matrix(0, 0);
  return as_method_supervision(supervision_from_labels(hard ? MatrixView(rows) : data.rows, classes_of(data), options));
}

// The final model of the chosen candidate is constant, although it was not on most folds. Candidates of its family with
// as large a lambda then count as constant, too, and the best of the others is chosen. False: there are no others.
bool choose_again(TuneResult& tuning, Measure measure) {
  if (tuning.record.empty() || tuning.all_constant) return false;
  const auto lambda_of = [&](std::size_t candidate) {
    const Setting* lambda = find_setting(tuning.record.candidates[candidate], "lambda");
    assert(lambda != nullptr);
    return lambda->value;
  };
  const auto chosen = static_cast<std::size_t>(tuning.record.chosen);
  for (std::size_t c = 0; c < tuning.constant.size(); ++c) {
    if (tuning.family_of[c] == tuning.family_of[chosen] && lambda_of(c) >= lambda_of(chosen)) tuning.constant[c] = true;
  }
  const Index next = best_candidate(tuning, measure);
  tuning.all_constant = tuning.constant[next];
  if (!tuning.all_constant) tuning.record.chosen = next;
  return !tuning.all_constant;
}

void check(const Plan& plan, const TrainingData& data) {
  internal::check_bounded_rows(data.rows);
  if (data.labelled()) internal::check_labels(classes_of(data), data.rows.rows(), false);
  require(!plan.scales.empty(), "there is no scale to try; at least one is needed");
  for (const auto& [name, values] : plan.tried) {
    for (const double value : values) plan.method->parameter(name).check(value);
    require(!values.empty(), "there is no value of {} to try; at least one is needed", name);
  }
  require(plan.fold_tolerance > 0 && plan.proof_tolerance >= plan.fold_tolerance,
          "fold_tolerance is {} and proof_tolerance {}; allowed: a number > 0 and at least as much",
          plan.fold_tolerance, plan.proof_tolerance);
}

// Copies the values of the chosen candidate, or the first of each list. Returns its index into plan.supervision.
std::size_t take_chosen(const Plan& plan, FitOutcome& outcome) {
  outcome.chosen = plan.settings;
  outcome.chosen_scale = plan.scales.front();
  for (const auto& [name, values] : plan.tried) outcome.chosen.parameters[name] = values.front();
  std::size_t kind = 0;
  const TuningRecord& record = outcome.tuning.record;
  if (!record.empty() && record.chosen >= 0) {
    for (const Setting& setting : record.candidates[record.chosen]) {
      if (setting.name == "scale" && !setting.word.empty()) {
        outcome.chosen_scale = scales_named(setting.word).front();
      } else if (setting.name == "supervision") {
        const auto same = [&](const LabelSupervisionOptions& one) { return to_string(one.kind) == setting.word; };
        const auto found = std::ranges::find_if(plan.supervision, same);
        assert(found != plan.supervision.end());
        kind = found - plan.supervision.begin();
      } else if (setting.word != "given") {
        outcome.chosen.parameters[setting.name] =
            setting.word.empty() ? setting.value : plan.method->parameter(setting.name).parse(setting.word);
      }
    }
  }
  if (!plan.supervision.empty()) outcome.chosen_supervision = plan.supervision[kind];
  return kind;
}

void take_partial_result(FitOutcome& outcome) {
  outcome.report.status = outcome.tuning.status;
  if (!outcome.tuning.best_so_far) return;
  outcome.model = *outcome.tuning.best_so_far;
  TrainingRecord& record = outcome.model.record;
  record.status = to_string(outcome.tuning.status);
  static_cast<Proof&>(outcome.report) = static_cast<const Proof&>(record);
  outcome.report.stationarity = record.stationarity;
  outcome.report.iterations = record.iterations;
  outcome.report.seconds = record.seconds;
}

void learn_chosen(const Plan& plan, const TrainingData& data, std::size_t kind, const RunControl& control,
                  FitOutcome& outcome) {
  MethodSettings settings = outcome.chosen;
  if (settings.time_limit > 0 && !outcome.tuning.record.empty()) {
    // A limit of 0 would mean no limit, so what is left must stay > 0.
    settings.time_limit = std::max(1e-9, settings.time_limit - outcome.tuning.record.seconds);
  }
  static_cast<MethodFit&>(outcome) =
      fit_with(*plan.method, data.rows, draw_supervision(plan, data, outcome.chosen_scale, kind),
               make_scaling(data.rows, outcome.chosen_scale), settings, control);
}

void record_drawing(const LabelSupervisionOptions& supervision, TrainingRecord& record) {
  record.drawn = to_string(supervision.kind);
  record.drawn_seed = supervision.seed;
  record.neighbours = supervision.kind == LabelSupervision::kHardComparisons ? supervision.neighbours : 0;
}

// ---- The candidates of a method that defines no families ----

struct Candidate {
  Scale scale;
  std::map<std::string, double> parameters;  // those that are given and those that are tried
  Settings settings;                         // what distinguishes it, for the table
};

// Every combination; the last parameter changes fastest.
std::vector<Candidate> candidates_of(const FamilyOptions& options) {
  std::vector<Candidate> candidates;
  candidates.reserve(options.scales.size());
  for (const Scale scale : options.scales) candidates.push_back({scale, options.settings.parameters, {}});
  for (const MethodParameter& parameter : options.method.parameters) {
    const auto tried = options.tried.find(parameter.name);
    if (tried == options.tried.end()) continue;
    std::vector<Candidate> longer;
    for (const Candidate& candidate : candidates) {
      for (const double value : tried->second) {
        longer.push_back(candidate);
        longer.back().parameters[parameter.name] = value;
        longer.back().settings.push_back(
            {parameter.name, value, parameter.choices.empty() ? "" : parameter.text(value)});
      }
    }
    candidates = std::move(longer);
  }
  for (Candidate& candidate : candidates) candidate.settings.push_back({"scale", 0, to_string(candidate.scale)});
  return candidates;
}

class GridLearner final : public FoldLearner {
 public:
  GridLearner(const FamilyOptions& options, const std::vector<Candidate>& candidates, const Fold& fold)
      : options_(options), candidates_(candidates), fold_(fold), models_(candidates.size()) {
    if (!options.supervision.empty()) supervision_ = all_pairs(fold.train_classes);
    if (fold.train_items) supervision_ = as_method_supervision(*fold.train_items);
  }

  std::vector<LearnStep> steps() const override {
    std::vector<LearnStep> steps(models_.size());
    for (std::size_t c = 0; c < steps.size(); ++c) steps[c].candidates = {c};
    return steps;
  }

  FoldFit run(std::size_t step, const RunControl& control) override {
    const Candidate& candidate = candidates_[step];
    MethodSettings settings = options_.settings;
    settings.parameters = candidate.parameters;
    settings.seed ^= fold_.seed;
    try {
      MethodFit fit = fit_with(options_.method, fold_.train_rows, supervision_,
                               make_scaling(fold_.train_rows, candidate.scale), settings, control);
      models_[step] = std::move(fit.model);
      return fit.report.status == Status::kConverged ? FoldFit::kSolved : FoldFit::kUnproved;
    } catch (const Error& error) {
      throw CandidateFailure(error.what());
    }
  }

  Model model(std::size_t candidate) const override { return models_[candidate]; }

 private:
  const FamilyOptions& options_;
  const std::vector<Candidate>& candidates_;
  const Fold& fold_;
  MethodSupervision supervision_ = fold_.train_classes;
  std::vector<Model> models_;
};

// Every combination of scale and tried values is a candidate that is learned by itself; all are one family.
class GridFamily final : public CandidateFamily {
 public:
  explicit GridFamily(const FamilyOptions& options) : options_(options) {}

  std::vector<Settings> candidates() const override {
    std::vector<Settings> all(candidates_.size());
    std::ranges::transform(candidates_, all.begin(), &Candidate::settings);
    return all;
  }
  std::unique_ptr<FoldLearner> learner(const Fold& fold) const override {
    return std::make_unique<GridLearner>(options_, candidates_, fold);
  }

 private:
  const FamilyOptions options_;
  const std::vector<Candidate> candidates_ = candidates_of(options_);
};

}  // namespace

std::string to_string(Finding::Kind kind) {
  constexpr const char* kNames[] = {"early_end", "constant", "scales_beyond_doubles", "applied_loss"};
  return kNames[static_cast<std::size_t>(kind)];
}

const Finding* FitOutcome::find(Finding::Kind kind) const {
  const auto found = std::ranges::find(diagnosis, kind, &Finding::kind);
  return found != diagnosis.end() ? &*found : nullptr;
}

CandidateFamilies families_of(const Plan& plan, const TrainingData& data) {
  check(plan, data);
  FamilyOptions options{*plan.method, plan.settings, plan.tried, plan.scales};
  const double own = plan.settings.tolerance.value_or(plan.method->limits.tolerance);
  options.settings.tolerance = std::max(own, plan.fold_tolerance);
  options.settings.time_limit = 0;  // tune() has the clock
  options.proof_tolerance = std::max(own, plan.proof_tolerance);
  if (data.labelled()) options.supervision = plan.supervision;
  for (LabelSupervisionOptions& one : options.supervision) {
    if (plan.tuning_rows > 0 && one.comparisons > 0) {
      one.comparisons = std::min(one.comparisons, plan.tuning_comparisons);
    }
  }
  options.total_weight = [&](Scale scale, std::size_t kind) {
    return internal::zero_model_losses(items_of(draw_supervision(plan, data, scale, kind))).weight;
  };
  if (plan.method->families) return plan.method->families(options);
  return {std::make_shared<GridFamily>(options)};
}

FitOutcome run(const Plan& plan, const TrainingData& data, const RunControl& control) {
  check(plan, data);
  FitOutcome outcome;
  if (plan.has_choice()) {
    outcome.tuning = tune(folds_of(plan, data, control), families_of(plan, data),
                          {plan.tune_for, plan.evaluation, 0, plan.settings.time_limit}, control);
    outcome.tuning_ended_early = outcome.tuning.status != Status::kOptimal;
  }
  std::size_t kind = take_chosen(plan, outcome);
  if (outcome.tuning_ended_early) {
    take_partial_result(outcome);
  } else {
    learn_chosen(plan, data, kind, control, outcome);
    // A fit may be constant only because it ended early.
    while (outcome.report.status == Status::kOptimal && outcome.model.record.constant &&
           choose_again(outcome.tuning, plan.tune_for)) {
      kind = take_chosen(plan, outcome);
      learn_chosen(plan, data, kind, control, outcome);
    }
  }
  outcome.tolerance =
      outcome.proved ? outcome.proved->tolerance : plan.settings.tolerance.value_or(plan.method->limits.tolerance);
  outcome.model.tuning = outcome.tuning.record;
  // Early stopping holds out part of the drawn items, and a fold draws its own: the record would not reproduce them.
  const bool on_all_items = !outcome.tuning_ended_early && !plan.settings.solver.early_stop;
  if (plan.method->learns_from_items && outcome.chosen_supervision && on_all_items) {
    record_drawing(*outcome.chosen_supervision, outcome.model.record);
  }
  outcome.diagnosis = internal::diagnose(plan, data, outcome);
  return outcome;
}

FitOutcome fit(const FitRequest& request, const TrainingData& data, const RunControl& control) {
  return run(plan(request, data), data, control);
}

}  // namespace bregmax
