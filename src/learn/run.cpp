#include "bregmax/learn/run.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <utility>

#include "bregmax/supervision/sample.hpp"
#include "core/checkpoint_file.hpp"
#include "core/checks.hpp"
#include "core/progress.hpp"
#include "learn/candidates.hpp"
#include "learn/diagnosis.hpp"
#include "learn/method_planner.hpp"

namespace bregmax {
namespace {

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

// Copies the values of the chosen candidate, or the first of each list. Returns its index into supervision of the
// chosen method.
std::size_t take_chosen(const Plan& plan, FitOutcome& outcome) {
  const TuningRecord& record = outcome.tuning.record;
  const bool chose = !record.empty() && record.chosen >= 0;
  const PlannedMethod& planned =
      plan.methods[chose ? static_cast<std::size_t>(outcome.tuning.role_of[record.chosen].method) : 0];
  outcome.planned = planned;
  outcome.chosen = planned.settings;
  outcome.chosen_scale = planned.scales.front();
  for (const auto& [name, values] : planned.tried) outcome.chosen.parameters[name] = values.front();
  std::size_t kind = 0;
  if (chose) {
    for (const Setting& setting : record.candidates[record.chosen]) {
      if (setting.name == "scale" && !setting.word.empty()) {
        outcome.chosen_scale = scales_named(setting.word).front();
      } else if (setting.name == "supervision") {
        const auto same = [&](const LabelSupervisionOptions& one) { return to_string(one.kind) == setting.word; };
        const auto found = std::ranges::find_if(planned.supervision, same);
        assert(found != planned.supervision.end());
        kind = found - planned.supervision.begin();
      } else if (setting.name != "method" && setting.word != "given") {
        outcome.chosen.parameters[setting.name] =
            setting.word.empty() ? setting.value : planned.method->parameter(setting.name).parse(setting.word);
      }
    }
  }
  outcome.chosen_supervision.reset();
  if (!planned.supervision.empty()) outcome.chosen_supervision = planned.supervision[kind];
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

// spent: seconds of the run so far.
void learn_chosen(const Plan& plan, const TrainingData& data, std::size_t kind, double spent, const RunControl& control,
                  FitOutcome& outcome) {
  MethodSupervision supervision = internal::draw_supervision(outcome.planned, data, outcome.chosen_scale, kind);
  if (plan.both_directions) supervision = in_both_directions(std::get<Pairs>(supervision));
  MethodSettings settings = outcome.chosen;
  settings.row_weights = data.row_weights;
  // A limit of 0 would mean no limit, so what is left must stay > 0.
  if (settings.time_limit > 0) settings.time_limit = std::max(1e-9, settings.time_limit - spent);
  static_cast<MethodFit&>(outcome) = fit_with(outcome.method(), data.rows, supervision,
                                              make_scaling(data.rows, outcome.chosen_scale), settings, control);
}

// Before the cross-validation, which may take long; the last fit then looks inside.
void check_checkpoints(const Plan& plan) {
  const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
  for (const PlannedMethod& planned : plan.methods) {
    const std::string& checkpoint = planned.settings.solver.checkpoint;
    internal::check_checkpoint_files(checkpoint, planned.settings.solver.resume);
    const bool both = !checkpoint.empty() && !plan.scores_file.empty();
    internal::require(!both || absolute(checkpoint) != absolute(plan.scores_file),
                      "{} is the file that keeps the scores of the cross-validation; give another name",
                      plan.names.with("checkpoint", checkpoint));
  }
}

// Of pairs that were learned from in both directions.
void count_once(FitOutcome& outcome) {
  outcome.model.record.items /= 2;
  if (outcome.proved) outcome.proved->items /= 2;
}

void record_drawing(const LabelSupervisionOptions& supervision, TrainingRecord& record) {
  record.drawn = to_string(supervision.kind);
  record.drawn_seed = supervision.seed;
  record.neighbours = supervision.kind == LabelSupervision::kHardComparisons ? supervision.neighbours : 0;
}

}  // namespace

std::string to_string(Finding::Kind kind) {
  constexpr const char* kNames[] = {"early_end", "constant", "scales_beyond_doubles", "applied_loss",
                                    "not_better_than_euclidean"};
  return kNames[static_cast<std::size_t>(kind)];
}

const Finding* FitOutcome::find(Finding::Kind kind) const {
  const auto found = std::ranges::find(diagnosis, kind, &Finding::kind);
  return found != diagnosis.end() ? &*found : nullptr;
}

FitOutcome run(const Plan& plan, const TrainingData& given, const RunControl& control) {
  const TrainingData data = internal::with_items(given, plan.target_pairs, plan.seed, plan.names.row_targets);
  internal::check_plan(plan, data);
  check_checkpoints(plan);
  const internal::Stopwatch watch;
  FitOutcome outcome;
  if (plan.has_choice()) {
    PlannedFamilies planned = families_of(plan, data);
    TuneOptions options{plan.tune_for, plan.evaluation, 0, plan.time_limit, std::move(planned.roles)};
    options.scores_file = plan.scores_file;
    if (!plan.scores_file.empty()) options.scores_of = internal::mark_of(plan, data);
    outcome.tuning = tune(folds_of(plan, data, control), planned.families, options, control);
    outcome.tuning_ended_early = outcome.tuning.status != Status::kOptimal;
  }
  std::size_t kind = take_chosen(plan, outcome);
  if (outcome.tuning_ended_early) {
    take_partial_result(outcome);
  } else {
    learn_chosen(plan, data, kind, watch.seconds(), control, outcome);
    // A fit may be constant only because it ended early.
    while (outcome.report.status == Status::kOptimal && outcome.model.record.constant &&
           choose_again(outcome.tuning, plan.tune_for)) {
      kind = take_chosen(plan, outcome);
      learn_chosen(plan, data, kind, watch.seconds(), control, outcome);
    }
  }
  if (plan.both_directions) count_once(outcome);
  outcome.tolerance =
      outcome.proved ? outcome.proved->tolerance : outcome.chosen.tolerance.value_or(outcome.method().limits.tolerance);
  outcome.model.tuning = outcome.tuning.record;
  // Early stopping holds out part of the drawn items, and a fold draws its own: the record would not reproduce them.
  const bool on_all_items = !outcome.tuning_ended_early && !outcome.chosen.solver.early_stop;
  if (outcome.method().learns_from_items && outcome.chosen_supervision && on_all_items) {
    record_drawing(*outcome.chosen_supervision, outcome.model.record);
  }
  if (plan.target_pairs > 0) {
    outcome.model.record.drawn = kTargetDifferences;
    outcome.model.record.drawn_seed = plan.seed;
  }
  outcome.diagnosis = internal::diagnose(plan, data, outcome);
  return outcome;
}

FitOutcome fit(const FitRequest& request, const TrainingData& data, const RunControl& control) {
  return run(plan(request, data), data, control);
}

}  // namespace bregmax
