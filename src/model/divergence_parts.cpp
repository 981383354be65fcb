#include "model/divergence_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/divergence/exponential_sum.hpp"
#include "bregmax/divergence/factory.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax::internal {
namespace {

// An average of averages of ... is legal; a file that nests deeper than anyone would is not worth the stack.
constexpr int kDeepestNesting = 16;

std::string member_prefix(const std::string& prefix, std::size_t member) {
  return fmt::format("{}.members.{}", prefix, member);
}

// All arrays under the prefix: an embedding has no members whose arrays could be among them.
EmbeddingParts embedding_parts(const std::string& prefix, const Container& container) {
  EmbeddingParts parts;
  for (const auto& [name, array] : container.arrays) {
    if (name.starts_with(prefix + ".")) parts.emplace(name.substr(prefix.size() + 1), container.matrix(name));
  }
  return parts;
}

nlohmann::json store(const Divergence& divergence, const std::string& prefix, int depth, Container& container) {
  if (depth > kDeepestNesting) throw Error("averages are nested too deeply for a model file");
  nlohmann::json description = {{"kind", divergence.name()}};
  if (const auto* max_affine = dynamic_cast<const MaxAffine*>(&divergence)) {
    container.put(prefix + ".slopes", max_affine->slopes());
    container.put(prefix + ".offsets", max_affine->offsets());
  } else if (const auto* smoothed = dynamic_cast<const SmoothedMaxAffine*>(&divergence)) {
    container.put(prefix + ".slopes", smoothed->slopes());
    container.put(prefix + ".offsets", smoothed->offsets());
    container.put(prefix + ".temperature", smoothed->temperature());
  } else if (const auto* mahalanobis = dynamic_cast<const Mahalanobis*>(&divergence)) {
    container.put(prefix + ".matrix", mahalanobis->metric());
  } else if (const auto* sum = dynamic_cast<const ExponentialSum*>(&divergence)) {
    container.put(prefix + ".anchors", sum->anchors());
    container.put(prefix + ".weights", sum->weights());
  } else if (const auto* embedding = dynamic_cast<const EmbeddingDivergence*>(&divergence)) {
    for (const auto& [name, part] : embedding->parts()) container.put(fmt::format("{}.{}", prefix, name), part);
  } else if (const auto* average = dynamic_cast<const AverageDivergence*>(&divergence)) {
    container.put(prefix + ".weights", average->weights());
    description["members"] = nlohmann::json::array();
    for (std::size_t i = 0; i < average->members().size(); ++i) {
      description["members"].push_back(store(*average->members()[i], member_prefix(prefix, i), depth + 1, container));
    }
  } else if (const auto names = closed_form_names(); std::ranges::find(names, divergence.name()) == names.end()) {
    throw Error(fmt::format("a divergence of the kind '{}' cannot be saved in a model file", divergence.name()));
  }
  return description;
}

std::shared_ptr<const Divergence> restore(const nlohmann::json& description, const std::string& prefix, int depth,
                                          const Container& container) {
  if (depth > kDeepestNesting) throw Error("invalid: averages are nested too deeply");
  const auto kind = description.at("kind").get<std::string>();
  if (kind == "max_affine") {
    return std::make_shared<MaxAffine>(container.matrix(prefix + ".slopes"), container.vector(prefix + ".offsets"));
  }
  if (kind == "smoothed_max_affine") {
    return std::make_shared<SmoothedMaxAffine>(container.matrix(prefix + ".slopes"),
                                               container.vector(prefix + ".offsets"),
                                               container.number(prefix + ".temperature"));
  }
  if (kind == "mahalanobis") return std::make_shared<Mahalanobis>(container.matrix(prefix + ".matrix"));
  if (kind == "exponential_sum") {
    return std::make_shared<ExponentialSum>(container.matrix(prefix + ".anchors"),
                                            container.vector(prefix + ".weights"));
  }
  if (kind == "average") {
    AverageDivergence::Members members;
    for (const auto& member : description.at("members")) {
      members.push_back(restore(member, member_prefix(prefix, members.size()), depth + 1, container));
    }
    return std::make_shared<AverageDivergence>(std::move(members), container.vector(prefix + ".weights"));
  }
  if (const auto names = embedding_names(); std::ranges::find(names, kind) != names.end()) {
    return make_embedding(kind, embedding_parts(prefix, container));
  }
  return make_closed_form(kind);
}

}  // namespace

nlohmann::json store_divergence(const Divergence& divergence, const std::string& prefix, Container& container) {
  return store(divergence, prefix, 0, container);
}

std::shared_ptr<const Divergence> restore_divergence(const nlohmann::json& description, const std::string& prefix,
                                                     const Container& container) {
  return restore(description, prefix, 0, container);
}

}  // namespace bregmax::internal
