#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/divergence/kernel_embedding.hpp"
#include "bregmax/divergence/tree_embedding.hpp"

namespace bregmax {
namespace {

struct EmbeddingKind {
  std::string name;
  std::shared_ptr<const Divergence> (*make)(const EmbeddingParts& parts);
};

std::vector<EmbeddingKind> embedding_kinds() {
  return {{"kernel_embedding", &KernelEmbedding::from_parts}, {"tree_embedding", &TreeEmbedding::from_parts}};
}

}  // namespace

std::vector<std::string> embedding_names() {
  std::vector<std::string> names;
  for (const EmbeddingKind& kind : embedding_kinds()) names.push_back(kind.name);
  return names;
}

std::shared_ptr<const Divergence> make_embedding(std::string_view name, const EmbeddingParts& parts) {
  for (const EmbeddingKind& kind : embedding_kinds()) {
    if (kind.name == name) return kind.make(parts);
  }
  throw Error(fmt::format("unknown embedding '{}'; allowed: {}", name, fmt::join(embedding_names(), ", ")));
}

}  // namespace bregmax
