#include "reports/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "reports/tuning_report.hpp"

namespace bregmax::app {
namespace {

std::string data_line(const FitReport& report) {
  const Table& table = report.table;
  std::string line = fmt::format("{}: {}, {}", table.source, count_of(table.features.rows(), "row"),
                                 count_of(table.features.cols(), "feature"));
  if (table.labels) line += fmt::format(", {}", count_of(table.labels->classes(), "class", "classes"));
  return line + (report.outcome.chosen_scale == Scale::kStandard ? ", standardised" : ", not scaled");
}

std::string supervision_line(const FitReport& report) {
  const FitCommand& fit = report.fit;
  if (fit.method == "euclidean") return "not needed";
  std::string items = items_text(report.outcome.model.record);
  for (const std::string* file : {&fit.comparisons_file, &fit.pairs_file, &fit.targets_file}) {
    if (!file->empty()) return fmt::format("{}, from {}", items, *file);
  }
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

std::string next_steps(const FitReport& report) {
  const std::string& model = report.fit.out;
  if (model.empty()) return "add --out MODEL to save it\n";
  if (!report.saved) return "";
  return fmt::format("next        bregmax show {0}\n            bregmax divergence {0} NEW.csv --out D.csv\n", model);
}

const MethodParameter* find_parameter(const std::string& method, const std::string& name) {
  for (const Method& each : all_methods()) {
    if (each.name != method) continue;
    const auto found = std::ranges::find(each.parameters, name, &MethodParameter::name);
    if (found != each.parameters.end()) return &*found;
  }
  return nullptr;
}

Json plan_as_json(const Plan& plan) {
  Json object = Json::object();
  for (const Plan::Field& field : plan.fields()) object[field.name] = field.values;
  return object;
}

Json diagnosis_as_json(const FitOutcome& outcome) {
  Json list = Json::array();
  for (const Finding& finding : outcome.diagnosis) {
    list.push_back({{"kind", to_string(finding.kind)}, {"cause", finding.cause}, {"text", finding.text}});
  }
  return list;
}

// Of a method with a proof. A run that ended while tuning has a model of a part of the rows, without a certificate, or
// none at all.
void add_proof(const FitOutcome& outcome, Json& json) {
  const MethodReport& report = outcome.report;
  const Model& model = outcome.model;
  const bool learned = model.divergence != nullptr;
  const SolverRecord proved = outcome.proved.value_or(SolverRecord{});
  const auto known = [learned](Json value) { return learned ? std::move(value) : Json(nullptr); };
  const auto certified = [&outcome](double value) { return outcome.proved ? Json(value) : Json(nullptr); };
  json["objective"] = known(report.objective);
  json["dual_objective"] = known(report.lower_bound);
  json["relative_gap"] = known(report.relative_gap);
  json["loss"] = known(report.loss);
  json["applied_loss"] = proved.applied_loss ? Json(*proved.applied_loss) : Json(nullptr);
  json["lipschitz"] = known(report.lipschitz);
  json["lambda"] = known(model.record.lambda);
  json["lipschitz_bound"] = outcome.chosen.parameters.at("lipschitz");
  json["convexity_violation"] = certified(report.convexity_violation);
  json["certificate"] = {{"objective", certified(proved.certificate.objective)},
                         {"loss", certified(proved.certificate.loss)},
                         {"lipschitz", certified(proved.certificate.lipschitz)},
                         {"dual_objective", certified(proved.certificate.lower_bound)},
                         {"relative_gap", certified(proved.certificate.relative_gap)},
                         {"convexity_violation", certified(proved.certificate.convexity_violation)},
                         {"valid_up_to_lipschitz", certified(proved.certificate.valid_up_to_lipschitz)}};
  json["pieces"] = learned ? Json(pieces_of(*model.divergence)) : Json(nullptr);
  json["solver"] = known(model.record.solver);
  json["solver_reason"] = proved.solver_reason.empty() ? Json(nullptr) : Json(proved.solver_reason);
  json["primal_residual"] = certified(report.primal_residual);
  json["dual_residual"] = certified(report.dual_residual);
  json["smoothing"] = known(outcome.chosen.parameters.at("smoothing"));
  json["constant"] = known(model.record.constant);
}

// What the solver or the method did, line by line.
void add_result(const FitReport& report, const std::function<void(std::string_view, const std::string&)>& line) {
  const FitOutcome& outcome = report.outcome;
  const MethodReport& solved = outcome.report;
  const TrainingRecord& record = outcome.model.record;
  const std::string effort = fmt::format("{}, {:.2f} s", count_of(solved.iterations, "iteration"), solved.seconds);
  if (!report.plan.method->learns_from_items) {
    const std::string parameters = parameters_text(record.method, record.parameters);
    line("method", fmt::format("{}{}{}, {}", record.method, parameters.empty() ? "" : ": ", parameters, effort));
    line("status", fmt::format("{}: objective {}, stationarity {:.1e}", to_string(solved.status),
                               short_number(solved.objective), solved.stationarity));
    return;
  }
  line("solver", fmt::format("{}, {}", record.solver, effort));
  if (record.solver == "admm" && !outcome.proved->solver_reason.empty()) {
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
  const auto* smooth = dynamic_cast<const SmoothedMaxAffine*>(&divergence);
  return smooth != nullptr ? smooth->temperature() : 0;
}

std::string parameters_text(const std::string& method, const std::map<std::string, double>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    const MethodParameter* parameter = find_parameter(method, name);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name,
                        parameter != nullptr ? parameter->text(value) : short_number(value));
  }
  return text;
}

Json parameters_json(const std::string& method, const std::map<std::string, double>& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) {
    const MethodParameter* parameter = find_parameter(method, name);
    const bool named = parameter != nullptr && !parameter->choices.empty();
    object[name] = named ? Json(parameter->text(value)) : Json(value);
  }
  return object;
}

Json fit_as_json(const FitReport& report) {
  const FitOutcome& outcome = report.outcome;
  const TrainingRecord& record = outcome.model.record;
  const bool learned = outcome.model.divergence != nullptr;
  const auto known = [learned](Json value) { return learned ? std::move(value) : Json(nullptr); };
  Json json = {{"status", to_string(outcome.report.status)}, {"method", report.fit.method}};
  if (report.plan.method->learns_from_items) {
    add_proof(outcome, json);
  } else {
    json["parameters"] = parameters_json(report.fit.method, record.parameters);
    json["objective"] = outcome.report.objective;
    json["stationarity"] = outcome.report.stationarity;
    json["divergence"] = known(learned ? outcome.model.divergence->name() : "");
  }
  const Json rest = {{"tolerance", outcome.tolerance},
                     {"n", report.table.features.rows()},
                     {"d", report.table.features.cols()},
                     {"supervision", known(record.supervision)},
                     {"items", known(record.items)},
                     {"iterations", known(outcome.report.iterations)},
                     {"seconds", known(outcome.report.seconds)},
                     {"scale", known(to_string(outcome.chosen_scale))},
                     {"plan", plan_as_json(report.plan)},
                     {"tuning", tuning_as_json(outcome.tuning.record)},
                     {"diagnosis", diagnosis_as_json(outcome)},
                     {"seed", report.fit.request.seed},
                     {"data", report.table.source},
                     {"model", report.saved ? Json(report.fit.out) : Json(nullptr)}};
  json.update(rest);
  return json;
}

std::string fit_as_text(const FitReport& report) {
  const Model& model = report.outcome.model;
  std::string out;
  const auto line = [&out](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  line("data", data_line(report));
  if (model.divergence == nullptr) return out;
  line("supervision", supervision_line(report));
  if (!model.tuning.empty()) out += tuning_summary(model.tuning);
  add_result(report, line);
  if (report.saved) line("saved", report.fit.out);
  return out + next_steps(report);
}

std::string explain_early_end(const FitReport& report, const Finding& finding) {
  const std::string& out = report.fit.out;
  const bool tuning = report.outcome.tuning_ended_early, scored = report.outcome.model.divergence != nullptr;
  std::string message = "bregmax: " + finding.text;
  const std::string& checkpoint = report.fit.request.solver.checkpoint;
  if (!tuning && std::filesystem::exists(checkpoint)) message += fmt::format("; --resume {} continues", checkpoint);
  if (out.empty()) return message;
  if (report.saved) {
    return message +
           fmt::format("; {} holds {}", out,
                       tuning ? "the best model so far, learned on a part of the rows" : "the unfinished model");
  }
  return message +
         fmt::format("; {} was not written ({})", out, scored ? "--keep-partial would" : "no model was scored yet");
}

}  // namespace bregmax::app
