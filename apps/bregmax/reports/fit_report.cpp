#include "reports/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "learn/as_json.hpp"

namespace bregmax::app {

// ---- Tuning ----

namespace {

std::string value_text(const Setting& setting) {
  return setting.word.empty() ? short_number(setting.value) : setting.word;
}

std::string score_text(double mean, double error) {
  if (!std::isfinite(mean)) return "-";
  return std::isfinite(error) ? fmt::format("{:.4f} ({:.4f})", mean, error) : fmt::format("{:.4f}", mean);
}

// The settings that all candidates share, and the other settings of each candidate. Candidates of different methods
// have different settings.
std::pair<Settings, std::vector<Settings>> split_settings(const std::vector<Settings>& candidates) {
  Settings common;
  std::vector<Settings> own(candidates.size());
  const auto shared = [&](const Setting& setting) {
    return candidates.size() > 1 && std::ranges::all_of(candidates, [&](const Settings& settings) {
             return std::ranges::find(settings, setting) != settings.end();
           });
  };
  for (const Setting& setting : candidates.front()) {
    if (shared(setting)) common.push_back(setting);
  }
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    for (const Setting& setting : candidates[c]) {
      if (std::ranges::find(common, setting) == common.end()) own[c].push_back(setting);
    }
  }
  return {common, own};
}

}  // namespace

Index measure_index(const TuningRecord& record) {
  return std::ranges::find(record.measures, record.tuned_for) - record.measures.begin();
}

std::string settings_text(const Settings& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    if (setting.name == "method") {
      text = setting.word;
      continue;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", setting.name, value_text(setting));
  }
  return text;
}

// The best candidate of each method; empty if there is only one.
std::string method_table(const TuningRecord& record) {
  const std::vector<MethodScore> scores = method_scores(record);
  if (scores.size() < 2) return "";
  std::string out;
  for (const MethodScore& score : scores) {
    Settings settings = record.candidates[score.candidate];
    std::erase_if(settings, [](const Setting& setting) { return setting.name == "method"; });
    out += fmt::format("{:<11} {} {:<11} {:<16}  {}\n", out.empty() ? "scores" : "", score.chosen ? "*" : " ",
                       score.method, score_text(score.mean, score.standard_error), settings_text(settings));
  }
  return out;
}

std::string tuning_summary(const TuningRecord& record) {
  const Index measure = measure_index(record);
  std::string fits = fmt::format("{} solved", record.solved);
  if (record.proved > 0) fits += fmt::format(", {} proved optimal by the solution for another lambda", record.proved);
  if (record.unproved > 0) fits += fmt::format("; {} of them ended above their tolerance", record.unproved);
  const Index candidates = std::ssize(record.candidates);
  const std::string compared =
      record.compared == candidates && record.compared_folds == record.folds
          ? fmt::format("{} folds, the best of {} candidates", record.folds, candidates)
          : fmt::format("{} of {} folds, the best of the {} candidates scored there ({} in all)", record.compared_folds,
                        record.folds, record.compared, candidates);
  return method_table(record) +
         fmt::format("{:<11} {}\n{:<11} {} {} on {} (fits: {}; {:.1f} s)\n", "chosen",
                     settings_text(record.candidates[record.chosen]), "tuned for", record.tuned_for,
                     score_text(record.means(record.chosen, measure), record.standard_errors(record.chosen, measure)),
                     compared, fits, record.seconds);
}

std::string tuning_table(const TuningRecord& record) {
  const auto [common, own] = split_settings(record.candidates);
  std::size_t widest = 10;
  for (const Settings& settings : own) widest = std::max(widest, settings_text(settings).size());
  std::string out = common.empty() ? "" : fmt::format("all candidates: {}\n", settings_text(common));
  out += fmt::format("{:<{}}", "candidate", widest + 2);
  const auto is_known = [&](Index m) { return record.means.col(m).array().isFinite().any(); };
  for (Index m = 0; m < record.means.cols(); ++m) {
    if (is_known(m)) out += fmt::format("  {:>17}", record.measures[m]);
  }
  out += "\n";
  for (Index c = 0; c < std::ssize(record.candidates); ++c) {
    out += fmt::format("{} {:<{}}", c == record.chosen ? "*" : " ", settings_text(own[c]), widest);
    for (Index m = 0; m < record.means.cols(); ++m) {
      if (!is_known(m)) continue;
      out += fmt::format("  {:>17}", score_text(record.means(c, m), record.standard_errors(c, m)));
    }
    out += "\n";
  }
  return out;
}

// ---- Fits ----

namespace {

std::string data_line(const FinishedFit& report) {
  const Table& table = report.table;
  std::string line = fmt::format("{}: {}, {}", table.source, count_of(table.features.rows(), "row"),
                                 count_of(table.features.cols(), "feature"));
  if (table.labels) line += fmt::format(", {}", count_of(table.labels->classes(), "class", "classes"));
  return line + (report.outcome.chosen_scale == Scale::kStandard ? ", standardised" : ", not scaled");
}

std::string supervision_line(const FinishedFit& report) {
  const SupervisionFiles& files = report.fit.files;
  if (!report.outcome.method().needs_supervision) return "not needed";
  std::string items = learned_from_text(report.outcome.model);
  const std::string direction = files.directed                ? ", directed"
                                : report.plan.both_directions ? ", in both directions"
                                                              : "";
  if (files.given()) return fmt::format("{}, from {}{}", items, files.path(), direction);
  if (report.plan.target_pairs > 0) return fmt::format("{}, seed {}", items, report.plan.seed);
  const auto& drawn = report.outcome.chosen_supervision;
  if (!drawn) return items;
  if (drawn->kind == LabelSupervision::kAllPairs) return items + ", all ordered pairs of rows, from the labels";
  return items + (drawn->kind == LabelSupervision::kHardComparisons
                      ? fmt::format(", of each row's {} nearest of its class and of others", drawn->neighbours)
                      : fmt::format(", drawn from the labels, seed {}", drawn->seed));
}

// The certificate is of the model before it is smoothed.
std::string smoothing_phrase(const FitOutcome& outcome) {
  const double temperature = smoothing_of(*outcome.model.divergence);
  if (temperature == 0) return "";
  const auto loss = outcome.proved ? outcome.proved->applied_loss : std::nullopt;
  return fmt::format("; then smoothed with T = {}{}", short_number(temperature),
                     loss ? fmt::format(", which makes the loss {}", short_number(*loss)) : "");
}

std::string certificate_line(const Certificate& certificate) {
  std::string line = fmt::format(
      "recomputed from the data: objective {}, lower bound {}, relative gap {:.1e}, largest convexity violation {:.1e}",
      short_number(certificate.objective), short_number(certificate.lower_bound), certificate.relative_gap,
      certificate.convexity_violation);
  if (std::isfinite(certificate.valid_up_to_lipschitz)) {
    line += fmt::format("; the bound holds for Lipschitz constants up to {}",
                        short_number(certificate.valid_up_to_lipschitz));
  }
  return line;
}

std::string next_steps(const FinishedFit& report) {
  const std::string& model = report.fit.out;
  if (model.empty()) return "add --out MODEL to save it\n";
  if (!report.saved) return "";
  const std::string use = report.plan.target_pairs > 0
                              ? fmt::format("predict {} --train {} --queries NEW.csv", model, report.table.source)
                              : fmt::format("divergence {} NEW.csv --out D.csv", model);
  return fmt::format("next        bregmax show {}\n            bregmax {}\n", model, use);
}

// What the solver or the method did, line by line.
void add_result(const FinishedFit& report, const std::function<void(std::string_view, const std::string&)>& line) {
  const FitOutcome& outcome = report.outcome;
  const MethodReport& solved = outcome.report;
  const TrainingRecord& record = outcome.model.record;
  const std::string effort = fmt::format("{}, {:.2f} s", count_of(solved.iterations, "iteration"), solved.seconds);
  if (!report.outcome.method().learns_from_items) {
    line("method", fmt::format("{}, {}", method_text(record), effort));
    line("status", fmt::format("{}: objective {}, stationarity {:.1e}", to_string(solved.status),
                               short_number(solved.objective), solved.stationarity));
    return;
  }
  line("solver", fmt::format("{}, {}", record.solver, effort));
  if (record.solver == "admm" && outcome.proved && !outcome.proved->solver_reason.empty()) {
    line("", "chosen since " + outcome.proved->solver_reason);
  }
  line("status", proof_text(to_string(solved.status), solved.objective, solved.lower_bound, solved.relative_gap));
  if (outcome.proved) line("certificate", certificate_line(outcome.proved->certificate));
  line("model", fmt::format("{}, loss {}, Lipschitz constant {}, lambda {}{}",
                            count_of(pieces_of(*outcome.model.divergence), "affine piece"), short_number(solved.loss),
                            short_number(solved.lipschitz), short_number(record.lambda), smoothing_phrase(outcome)));
  if (record.constant) line("warning", "the divergence is constant: it does not tell the rows apart");
  if (const Finding* applied = outcome.find(Finding::Kind::kAppliedLoss)) line("note", applied->text);
}

}  // namespace

double smoothing_of(const Divergence& divergence) {
  const auto pieces = max_affine_pieces(divergence);
  return pieces ? pieces->temperature : 0;
}

std::string method_text(const TrainingRecord& record) {
  std::string text = record.method;
  const Json parameters = internal::parameters_as_json(record.method, record.parameters);
  for (const auto& [name, value] : parameters.items()) {
    text += fmt::format("{} {} = {}", text == record.method ? ":" : ",", name,
                        value.is_string() ? value.get<std::string>() : short_number(value.get<double>()));
  }
  return text;
}

Json fit_as_json(const FinishedFit& report) {
  Json json = internal::outcome_as_json(report.plan, report.outcome);
  json.update({{"n", report.table.features.rows()},
               {"d", report.table.features.cols()},
               {"tuning", internal::tuning_as_json(report.outcome.tuning.record)},
               {"seed", report.fit.request.seed},
               {"data", report.table.source},
               {"target", report.plan.target_pairs > 0 ? Json(report.table.recipe.target) : Json(nullptr)},
               {"model", report.saved ? Json(report.fit.out) : Json(nullptr)}});
  return json;
}

std::string fit_as_text(const FinishedFit& report) {
  const Model& model = report.outcome.model;
  std::string out;
  const auto line = [&out](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  line("data", data_line(report));
  if (model.divergence == nullptr) return out;
  line("supervision", supervision_line(report));
  if (!report.fit.start.empty()) line("start", report.fit.start);
  if (!model.tuning.empty()) out += tuning_summary(model.tuning);
  add_result(report, line);
  line("features", features_text(model));
  if (report.saved) line("saved", report.fit.out);
  return out + next_steps(report);
}

std::string explain_early_end(const FinishedFit& report, const Finding& finding) {
  const std::string& out = report.fit.out;
  const bool tuning = report.outcome.tuning_ended_early, scored = report.outcome.model.divergence != nullptr;
  std::string message = "bregmax: " + finding.text;
  const std::string& checkpoint = report.fit.request.solver.checkpoint;
  if (!tuning && std::filesystem::exists(checkpoint)) message += fmt::format("; --resume {} continues", checkpoint);
  if (out.empty()) return message;
  const std::string& scores = report.plan.scores_file;
  if (tuning && std::filesystem::exists(scores)) {
    message += fmt::format("; the scores so far are in {}, and the same command goes on from there", scores);
  }
  if (report.saved) {
    return message +
           fmt::format("; {} holds {}", out,
                       tuning ? "the best model so far, learned on a part of the rows" : "the unfinished model");
  }
  return message +
         fmt::format("; {} was not written ({})", out, scored ? "--keep-partial would" : "no model was scored yet");
}

}  // namespace bregmax::app
