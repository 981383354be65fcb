#include "model/tuning_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

using Json = nlohmann::json;

// Words stay in the JSON, numbers go to the array tuning.values: one per setting, in order.
Json store_candidates(const TuningRecord& record, Container& container) {
  std::vector<double> values;
  Json candidates = Json::array();
  for (const Settings& settings : record.candidates) {
    Json one = Json::array();
    for (const Setting& setting : settings) {
      one.push_back(setting.word.empty() ? Json{setting.name} : Json{setting.name, setting.word});
      values.push_back(setting.value);
    }
    candidates.push_back(std::move(one));
  }
  container.put("tuning.values", Vector(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()))));
  return candidates;
}

std::vector<Settings> restore_candidates(const Json& description, const Vector& values) {
  std::vector<Settings> candidates;
  Index at = 0;
  for (const Json& one : description) {
    Settings settings;
    for (const Json& parts : one) {
      if (at >= values.size()) throw Error("invalid: tuning.values is shorter than the candidates");
      Setting setting;
      setting.name = parts.at(0).get<std::string>();
      if (parts.size() > 1) setting.word = parts.at(1).get<std::string>();
      setting.value = values(at++);
      settings.push_back(std::move(setting));
    }
    candidates.push_back(std::move(settings));
  }
  if (at != values.size()) throw Error("invalid: tuning.values is longer than the candidates");
  return candidates;
}

}  // namespace

void check_tuning(const TuningRecord& record) {
  if (record.empty()) return;
  const auto candidates = static_cast<Index>(record.candidates.size());
  const auto measures = static_cast<Index>(record.measures.size());
  for (const Matrix* scores : {&record.means, &record.standard_errors}) {
    if (scores->rows() != candidates || scores->cols() != measures || measures == 0) {
      throw Error(fmt::format("the tuning has a table of {} x {} for {} candidates and {} measures", scores->rows(),
                              scores->cols(), candidates, measures));
    }
  }
  if (record.chosen < 0 || record.chosen >= candidates) {
    throw Error(fmt::format("the tuning chose candidate {}; allowed: 0 to {}", record.chosen, candidates - 1));
  }
  if (std::find(record.measures.begin(), record.measures.end(), record.tuned_for) == record.measures.end()) {
    throw Error(fmt::format("the tuning was for '{}', which is not one of its measures", record.tuned_for));
  }
  for (const Settings& settings : record.candidates) {
    if (settings.empty()) throw Error("the tuning has a candidate without settings");
  }
  if (record.compared < 0 || record.compared > candidates || record.compared_folds < 0 ||
      record.compared_folds > record.folds) {
    throw Error(fmt::format("the tuning compared {} candidates on {} folds; allowed: at most {} and {}",
                            record.compared, record.compared_folds, candidates, record.folds));
  }
  if (record.folds < 0 || record.solved < 0 || record.proved < 0 || record.unproved < 0) {
    throw Error("the tuning counts less than 0 folds or fits");
  }
}

void store_tuning(const TuningRecord& record, Container& container) {
  if (record.empty()) return;
  Json& description = container.metadata["tuning"];
  description["tuned_for"] = record.tuned_for;
  description["folds"] = record.folds;
  description["measures"] = record.measures;
  description["candidates"] = store_candidates(record, container);
  description["chosen"] = record.chosen;
  description["compared"] = record.compared;
  description["compared_folds"] = record.compared_folds;
  description["solved"] = record.solved;
  description["proved"] = record.proved;
  description["unproved"] = record.unproved;
  container.put("tuning.means", record.means);
  container.put("tuning.standard_errors", record.standard_errors);
  container.put("tuning.seconds", record.seconds);
}

TuningRecord restore_tuning(const Container& container) {
  TuningRecord record;
  if (!container.metadata.contains("tuning")) return record;
  const Json& description = container.metadata["tuning"];
  record.tuned_for = description.at("tuned_for").get<std::string>();
  record.folds = count_of<int>(description, "tuning", "folds");
  record.measures = description.at("measures").get<std::vector<std::string>>();
  record.candidates = restore_candidates(description.at("candidates"), container.vector("tuning.values"));
  record.chosen = count_of<Index>(description, "tuning", "chosen");
  // Not in the first files: all of them were.
  record.compared = static_cast<Index>(record.candidates.size());
  record.compared_folds = record.folds;
  if (description.contains("compared")) record.compared = count_of<Index>(description, "tuning", "compared");
  if (description.contains("compared_folds"))
    record.compared_folds = count_of<int>(description, "tuning", "compared_folds");
  record.solved = count_of<Index>(description, "tuning", "solved");
  record.proved = count_of<Index>(description, "tuning", "proved");
  record.unproved = count_of<Index>(description, "tuning", "unproved");
  record.means = container.matrix("tuning.means");
  record.standard_errors = container.matrix("tuning.standard_errors");
  record.seconds = container.number("tuning.seconds");
  if (record.empty()) throw Error("invalid: the tuning has no candidates");
  return record;
}

}  // namespace bregmax::internal
