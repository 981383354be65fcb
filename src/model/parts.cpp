#include "model/parts.hpp"

#include <algorithm>

#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/divergence/exponential_sum.hpp"
#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/network_embedding.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax::internal {
namespace {

using Json = nlohmann::json;

// Averages of averages and embeddings in embeddings are allowed, but a file must not be able to exhaust the stack.
constexpr int kDeepestNesting = 16;

constexpr std::string_view kNetwork = "network_embedding";  // the embedding whose inner divergence is in the file

std::string member_prefix(const std::string& prefix, std::size_t member) {
  return fmt::format("{}.members.{}", prefix, member);
}

// The arrays under the prefix, without those of the inner divergence.
EmbeddingParts embedding_parts(const std::string& prefix, const Container& container) {
  EmbeddingParts parts;
  for (const auto& [name, array] : container.arrays) {
    if (!name.starts_with(prefix + ".") || name.starts_with(prefix + ".inner.")) continue;
    parts.emplace(name.substr(prefix.size() + 1), container.matrix(name));
  }
  return parts;
}

// The words of the tuned settings go to the JSON, their numbers to the array tuning.values: one per setting, in order.
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
  container.put("tuning.values", Vector(Eigen::Map<const Vector>(values.data(), std::ssize(values))));
  return candidates;
}

std::vector<Settings> restore_candidates(const Json& description, const Vector& values) {
  std::vector<Settings> candidates;
  Index at = 0;
  for (const Json& one : description) {
    Settings settings;
    for (const Json& parts : one) {
      require(at < values.size(), "invalid: tuning.values is shorter than the candidates");
      settings.push_back({parts.at(0).get<std::string>(), values(at++)});
      if (parts.size() > 1) settings.back().word = parts.at(1).get<std::string>();
    }
    candidates.push_back(std::move(settings));
  }
  require(at == values.size(), "invalid: tuning.values is longer than the candidates");
  return candidates;
}

// Calls visit(name in the file, count) for each.
void for_each_count(auto& record, const auto& visit) {
  visit("folds", record.folds);
  visit("chosen", record.chosen);
  visit("compared", record.compared);
  visit("compared_folds", record.compared_folds);
  visit("solved", record.solved);
  visit("proved", record.proved);
  visit("unproved", record.unproved);
}

}  // namespace

Json store_divergence(const Divergence& divergence, const std::string& prefix, Container& container, int depth) {
  require(depth <= kDeepestNesting, "divergences are nested too deeply for a model file");
  Json description = {{"kind", divergence.name()}};
  const auto put = [&](const std::string& name, const auto& part) { container.put(prefix + "." + name, part); };
  if (const auto pieces = max_affine_pieces(divergence)) {
    put("slopes", pieces->slopes);
    put("offsets", pieces->offsets);
    if (pieces->temperature > 0) put("temperature", pieces->temperature);
    if (divergence.resolution() > 0) put("resolution", divergence.resolution());
  } else if (const auto* quadratic = dynamic_cast<const LogSumExpQuadratic*>(&divergence)) {
    put("slopes", quadratic->slopes());
    put("offsets", quadratic->offsets());
    put("temperature", quadratic->temperature());
    if (quadratic->roots().rows() > 0) put("roots", quadratic->roots());  // arrays in files are not empty
  } else if (const auto* mahalanobis = dynamic_cast<const Mahalanobis*>(&divergence)) {
    put("matrix", mahalanobis->metric());
  } else if (const auto* sum = dynamic_cast<const ExponentialSum*>(&divergence)) {
    put("anchors", sum->anchors());
    put("weights", sum->weights());
  } else if (const auto* embedding = dynamic_cast<const EmbeddingDivergence*>(&divergence)) {
    for (const auto& [name, part] : embedding->parts()) put(name, part);
    if (embedding->name() == kNetwork) {
      description["inner"] = store_divergence(embedding->inner(), prefix + ".inner", container, depth + 1);
    }
  } else if (const auto* average = dynamic_cast<const AverageDivergence*>(&divergence)) {
    put("weights", average->weights());
    for (const auto& member : average->members()) {
      auto& members = description["members"];
      members.push_back(store_divergence(*member, member_prefix(prefix, members.size()), container, depth + 1));
    }
  } else if (std::ranges::count(closed_form_names(), divergence.name()) == 0) {
    fail("a divergence of the kind '{}' cannot be saved in a model file", divergence.name());
  }
  return description;
}

std::shared_ptr<const Divergence> restore_divergence(const Json& description, const std::string& prefix,
                                                     const Container& container, int depth) {
  require(depth <= kDeepestNesting, "invalid: divergences are nested too deeply");
  const auto kind = description.at("kind").get<std::string>();
  const auto matrix = [&](const char* name) { return container.matrix(prefix + name); };
  const auto vector = [&](const char* name) { return container.vector(prefix + name); };
  if (kind == "max_affine") {
    const double resolution = container.has(prefix + ".resolution") ? container.number(prefix + ".resolution") : 0;
    return std::make_shared<MaxAffine>(matrix(".slopes"), vector(".offsets"), resolution);
  }
  if (kind == "smoothed_max_affine") {
    const double temperature = container.number(prefix + ".temperature");
    return std::make_shared<SmoothedMaxAffine>(matrix(".slopes"), vector(".offsets"), temperature);
  }
  if (kind == "log_sum_exp_quadratic") {
    const double temperature = container.number(prefix + ".temperature");
    Matrix slopes = matrix(".slopes");
    Matrix roots = container.has(prefix + ".roots") ? matrix(".roots") : Matrix(0, slopes.cols());
    return std::make_shared<LogSumExpQuadratic>(std::move(slopes), vector(".offsets"), temperature, std::move(roots));
  }
  if (kind == "mahalanobis") return std::make_shared<Mahalanobis>(matrix(".matrix"));
  if (kind == "exponential_sum") return std::make_shared<ExponentialSum>(matrix(".anchors"), vector(".weights"));
  if (kind == "average") {
    AverageDivergence::Members members;
    for (const auto& member : description.at("members")) {
      members.push_back(restore_divergence(member, member_prefix(prefix, members.size()), container, depth + 1));
    }
    return std::make_shared<AverageDivergence>(std::move(members), vector(".weights"));
  }
  if (std::ranges::count(embedding_names(), kind) > 0) {
    auto inner = kind == kNetwork ? restore_divergence(description.at("inner"), prefix + ".inner", container, depth + 1)
                                  : nullptr;
    return make_embedding(kind, embedding_parts(prefix, container), inner);
  }
  return make_closed_form(kind);
}

void check_tuning(const TuningRecord& record) {
  if (record.empty()) return;
  const auto candidates = std::ssize(record.candidates);
  const auto measures = std::ssize(record.measures);
  for (const Matrix* scores : {&record.means, &record.standard_errors}) {
    require(scores->rows() == candidates && scores->cols() == measures && measures > 0,
            "the tuning has a table of {} x {} for {} candidates and {} measures", scores->rows(), scores->cols(),
            candidates, measures);
  }
  require(record.chosen >= 0 && record.chosen < candidates, "the tuning chose candidate {}; allowed: 0 to {}",
          record.chosen, candidates - 1);
  require(std::ranges::count(record.measures, record.tuned_for) > 0,
          "the tuning was for '{}', which is not one of its measures", record.tuned_for);
  require(std::ranges::count(record.candidates, Settings{}) == 0, "the tuning has a candidate without settings");
  require(record.compared >= 0 && record.compared <= candidates && record.compared_folds >= 0 &&
              record.compared_folds <= record.folds,
          "the tuning compared {} candidates on {} folds; allowed: at most {} and {}", record.compared,
          record.compared_folds, candidates, record.folds);
  require(record.folds >= 0 && record.solved >= 0 && record.proved >= 0 && record.unproved >= 0,
          "the tuning counts less than 0 folds or fits");
}

void store_tuning(const TuningRecord& record, Container& container) {
  if (record.empty()) return;
  Json& description = container.metadata["tuning"];
  description["tuned_for"] = record.tuned_for;
  description["measures"] = record.measures;
  description["candidates"] = store_candidates(record, container);
  for_each_count(record, [&](const char* name, auto count) { description[name] = count; });
  container.put("tuning.means", record.means);
  container.put("tuning.standard_errors", record.standard_errors);
  container.put("tuning.seconds", record.seconds);
}

TuningRecord restore_tuning(const Container& container) {
  TuningRecord record;
  if (!container.metadata.contains("tuning")) return record;
  const Json& description = container.metadata["tuning"];
  record.tuned_for = description.at("tuned_for").get<std::string>();
  record.measures = description.at("measures").get<std::vector<std::string>>();
  record.candidates = restore_candidates(description.at("candidates"), container.vector("tuning.values"));
  // The first files do not say what was compared: everything was.
  const auto is_missing = [&](std::string_view name) {
    return name.starts_with("compared") && !description.contains(name);
  };
  for_each_count(record, [&](const char* name, auto& count) {
    if (!is_missing(name)) read_count(description, "tuning", name, count);
  });
  if (is_missing("compared")) record.compared = std::ssize(record.candidates);
  if (is_missing("compared_folds")) record.compared_folds = record.folds;
  record.means = container.matrix("tuning.means");
  record.standard_errors = container.matrix("tuning.standard_errors");
  record.seconds = container.number("tuning.seconds");
  require(!record.empty(), "invalid: the tuning has no candidates");
  return record;
}

}  // namespace bregmax::internal
