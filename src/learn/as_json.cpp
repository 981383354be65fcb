#include "learn/as_json.hpp"

#include <algorithm>
#include <cmath>

#include "bregmax/data/builtin.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "core/text.hpp"

namespace bregmax::internal {
namespace {

// The one place that writes a proof. `dual_objective` is what `lower_bound` was called before version 0.2.
Json proof_as_json(const Proof& proof) {
  return {{"objective", proof.objective},
          {"lower_bound", proof.lower_bound},
          {"dual_objective", proof.lower_bound},
          {"relative_gap", proof.relative_gap},
          {"loss", proof.loss},
          {"lipschitz", proof.lipschitz},
          {"convexity_violation", proof.convexity_violation}};
}

// The same members, all null, unless `known`.
Json if_known(bool known, Json object) {
  if (known) return object;
  for (Json& value : object) value = nullptr;
  return object;
}

// A run that ended while tuning has a model of a part of the rows, without a certificate, or no model at all.
void add_proof(const FitOutcome& outcome, const std::map<std::string, double>& parameters, Json& json) {
  const bool learned = outcome.model.divergence != nullptr, certified = outcome.proved.has_value();
  const SolverRecord proved = outcome.proved.value_or(SolverRecord{});
  json.update(if_known(learned, proof_as_json(outcome.report)));
  json.update(if_known(certified, {{"convexity_violation", outcome.report.convexity_violation},
                                   {"primal_residual", outcome.report.primal_residual},
                                   {"dual_residual", outcome.report.dual_residual}}));
  json.update(if_known(learned, {{"lambda", outcome.model.record.lambda},
                                 {"smoothing", parameters.at("smoothing")},
                                 {"pieces", learned ? pieces_of(*outcome.model.divergence) : 0},
                                 {"solver", outcome.model.record.solver},
                                 {"constant", outcome.model.record.constant}}));
  json["lipschitz_bound"] = parameters.at("lipschitz");
  json["applied_loss"] = proved.applied_loss ? Json(*proved.applied_loss) : Json(nullptr);
  json["solver_reason"] = proved.solver_reason.empty() ? Json(nullptr) : Json(proved.solver_reason);
  Json certificate = proof_as_json(proved.certificate);
  certificate["valid_up_to_lipschitz"] = proved.certificate.valid_up_to_lipschitz;
  json["certificate"] = if_known(certified, std::move(certificate));
}

// Of a method without a proof; what it has no value of is null.
void add_convergence(const FitOutcome& outcome, Json& json) {
  json.update(if_known(false, proof_as_json(outcome.report)));
  const bool learned = outcome.model.divergence != nullptr;
  json.update({{"objective", outcome.report.objective},
               {"stationarity", outcome.report.stationarity},
               {"lambda", nullptr},
               {"pieces", learned ? pieces_of(*outcome.model.divergence) : 0},
               {"solver", outcome.method().name}});
}

Json value_as_json(const MethodParameter& parameter, double value) {
  if (!parameter.choices.empty() || (parameter.word && value == parameter.word->second)) return parameter.text(value);
  return parameter.whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json settings_as_json(const Settings& settings) {
  Json object = Json::object();
  for (const Setting& setting : settings) {
    object[setting.name] = setting.word.empty() ? Json(setting.value) : Json(setting.word);
  }
  return object;
}

Json chosen_as_json(const TuningRecord& record) {
  return record.chosen < 0 || record.empty() ? Json(nullptr) : settings_as_json(record.candidates[record.chosen]);
}

}  // namespace

Json scores_as_json(const TuningRecord& record) {
  Json list = Json::array();
  for (const MethodScore& score : method_scores(record)) {
    list.push_back({{"method", score.method},
                    {"measure", record.tuned_for},
                    {"mean", score.mean},
                    {"standard_error", score.standard_error},
                    {"settings", settings_as_json(record.candidates[score.candidate])},
                    {"chosen", score.chosen}});
  }
  return list;
}

Json outcome_as_json(const Plan& plan, const FitOutcome& outcome) {
  const Model& model = outcome.model;
  const MethodReport& report = outcome.report;
  const bool learned = model.divergence != nullptr;
  Json json = {{"status", to_string(report.status)}, {"method", outcome.method().name}};
  const std::map<std::string, double> parameters = resolve(outcome.method(), outcome.chosen).parameters;
  json.update(if_known(learned, {{"divergence", learned ? model.divergence->name() : ""},
                                 {"parameters", parameters_as_json(outcome.method().name, parameters)}}));
  if (outcome.method().learns_from_items) {
    add_proof(outcome, parameters, json);
  } else {
    add_convergence(outcome, json);
  }
  json["tolerance"] = outcome.tolerance;
  const bool given_pairs = !plan.labelled && model.record.supervision == "pairs";
  const Json directed = given_pairs ? Json(!plan.both_directions) : Json(nullptr);
  json.update(if_known(learned, {{"supervision", model.record.supervision},
                                 {"items", model.record.items},
                                 {"directed", directed},
                                 {"iterations", report.iterations},
                                 {"seconds", report.seconds},
                                 {"scale", to_string(outcome.chosen_scale)}}));
  json["features_read"] = learned ? features_as_json(model) : Json(nullptr);
  json["tuning_ended_early"] = outcome.tuning_ended_early;
  json["plan"] = Json::object();
  for (const Plan::Field& field : plan.fields()) json["plan"][field.name] = field.values;
  const double seconds = plan.predicted_seconds();
  json["plan"]["predicted_seconds"] = std::isfinite(seconds) ? Json(seconds) : Json(nullptr);
  json["plan"]["notes"] = plan.notes;
  json["scores"] = scores_as_json(outcome.tuning.record);
  json["chosen"] = chosen_as_json(outcome.tuning.record);
  json["diagnosis"] = Json::array();
  for (const Finding& finding : outcome.diagnosis) {
    json["diagnosis"].push_back({{"kind", to_string(finding.kind)}, {"cause", finding.cause}, {"text", finding.text}});
  }
  return json;
}

Json features_as_json(const Model& model) {
  const auto read = features_read(model);
  if (!read) return nullptr;
  Json list = Json::array();
  for (const FeatureNorm& feature : *read) list.push_back({{"name", feature.name}, {"norm", feature.norm}});
  return list;
}

Json record_as_json(const TrainingRecord& record) {
  Json json = {{"method", record.method},
               {"parameters", parameters_as_json(record.method, record.parameters)},
               {"stationarity", record.stationarity},
               {"supervision", record.supervision},
               {"drawn", record.drawn},
               {"items", record.items},
               {"n", record.rows},
               {"solver", record.solver},
               {"status", record.status}};
  json.update(proof_as_json(record));
  json.erase("convexity_violation");  // which model files do not keep
  json.update({{"lipschitz_bound", record.lipschitz_bound},
               {"lambda", record.lambda},
               {"iterations", record.iterations},
               {"seconds", record.seconds},
               {"seed", record.seed},
               {"constant", record.constant}});
  return json;
}

Json tuning_as_json(const TuningRecord& record) {
  if (record.empty()) return nullptr;
  Json table = Json::array();
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    Json line = settings_as_json(record.candidates[c]);
    for (std::size_t m = 0; m < record.measures.size(); ++m) {
      line["scores"][record.measures[m]] = {{"mean", record.means(c, m)},
                                            {"standard_error", record.standard_errors(c, m)}};
    }
    table.push_back(std::move(line));
  }
  Json json = {{"tuned_for", record.tuned_for},
               {"folds", record.folds},
               {"compared", record.compared},
               {"compared_folds", record.compared_folds},
               {"chosen", nullptr},
               {"score", nullptr},
               {"standard_error", nullptr},
               {"solved", record.solved},
               {"proved", record.proved},
               {"unproved", record.unproved},
               {"seconds", record.seconds},
               {"table", std::move(table)}};
  if (record.chosen >= 0) {
    const Json& score = json["table"][static_cast<std::size_t>(record.chosen)]["scores"][record.tuned_for];
    json["score"] = score["mean"];
    json["standard_error"] = score["standard_error"];
    json["chosen"] = chosen_as_json(record);
  }
  return json;
}

Json parameters_as_json(const std::string& method, const std::map<std::string, double>& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters) object[name] = value;
  const auto known = std::ranges::find(all_methods(), method, &Method::name);
  if (known == all_methods().end()) return object;
  for (const MethodParameter& parameter : known->parameters) {
    const auto given = parameters.find(parameter.name);
    if (given != parameters.end()) object[parameter.name] = value_as_json(parameter, given->second);
  }
  return object;
}

namespace {

// One row of the table.
Json compared_method_as_json(const MethodTable& comparison, Index row) {
  const ComparedMethod& method = comparison.methods[row];
  Json scores = Json::object();
  for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
    const auto column = static_cast<Index>(m);
    Json on_folds = Json::array();
    for (const Matrix& fold : comparison.fold_scores) on_folds.push_back(fold(row, column));
    scores[to_string(comparison.measures[m])] = {{"mean", comparison.means(row, column)},
                                                 {"standard_error", comparison.standard_errors(row, column)},
                                                 {"best", comparison.best[m] == row},
                                                 {"as_good", static_cast<bool>(comparison.as_good[m][row])},
                                                 {"folds", std::move(on_folds)}};
  }
  Json failures = Json::array();
  for (const auto& [fold, reason] : method.failures) failures.push_back({{"fold", fold}, {"reason", reason}});
  return {{"method", method.method},
          {"folds", method.folds},
          {"scores", std::move(scores)},
          {"seconds_of_fit", method.seconds_of_fit},
          {"seconds_of_choice", method.seconds_of_choice},
          {"settings", method.settings},
          {"constant_on_folds", method.constant},
          {"not_converged_on_folds", method.not_converged},
          {"failures", std::move(failures)}};
}

}  // namespace

Json method_table_as_json(const ComparePlan& plan, const MethodTable& comparison) {
  Json measures = Json::array(), methods = Json::array(), winners = Json::object();
  for (std::size_t m = 0; m < comparison.measures.size(); ++m) {
    const std::string name = to_string(comparison.measures[m]);
    measures.push_back(name);
    const Index best = comparison.best[m];
    winners[name] = best < 0 ? Json(nullptr) : Json(comparison.methods[best].method);
  }
  for (std::size_t row = 0; row < comparison.methods.size(); ++row) {
    methods.push_back(compared_method_as_json(comparison, static_cast<Index>(row)));
  }
  return {{"status", comparison.status == Status::kOptimal ? "done" : to_string(comparison.status)},
          {"measures", std::move(measures)},
          {"folds", comparison.fold_scores.size()},
          {"repeats", plan.outer.repeats},
          {"settings_chosen", "within the training part of each fold"},
          {"tune_for", to_string(plan.outer.tune_for)},
          {"winners", std::move(winners)},
          {"methods", std::move(methods)},
          {"members_of_auto", plan.members_of_auto()},
          {"notes", plan.notes},
          {"runs", comparison.runs},
          {"runs_done", comparison.done},
          {"runs_from_file", comparison.from_file},
          {"predicted_seconds", plan.predicted_seconds()},
          {"seconds", comparison.seconds},
          {"seed", plan.request.seed}};
}

Json methods_as_json() {
  Json list = Json::array();
  for (const Method& method : all_methods()) {
    Json parameters = Json::array();
    for (const MethodParameter& parameter : method.parameters) {
      Json grid = Json::array();
      for (const double value : parameter.grid) grid.push_back(value_as_json(parameter, value));
      parameters.push_back({{"name", parameter.name},
                            {"help", parameter.help},
                            {"allowed", parameter.allowed()},
                            {"default", parameter.text(parameter.standard)},
                            {"grid", grid},
                            {"tuned", parameter.tuned}});
    }
    list.push_back({{"name", method.name},
                    {"summary", method.summary},
                    {"supervision", joined(method.supervision(), ", ")},
                    {"tolerance", method.limits.tolerance},
                    {"max_iterations", method.limits.max_iterations},
                    {"parameters", std::move(parameters)}});
  }
  return list;
}

Json datasets_as_json() {
  Json list = Json::array();
  for (const BuiltinDataset& dataset : builtin_datasets()) {
    list.push_back({{"name", dataset.name},
                    {"rows", dataset.rows},
                    {"features", dataset.features},
                    {"classes", dataset.classes},
                    {"description", dataset.description},
                    {"licence", dataset.licence},
                    {"source", dataset.source}});
  }
  return list;
}

}  // namespace bregmax::internal
