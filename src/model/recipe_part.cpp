// The columns that a model takes, as a part of its file.

#include <cmath>

#include "core/text.hpp"
#include "model/parts.hpp"

namespace bregmax::internal {
namespace {

constexpr const char* kColumns = "columns";
constexpr const char* kFill = "columns.fill";

}  // namespace

void check_recipe(const Recipe& recipe, Index features) {
  if (recipe.empty()) return;
  require(std::ssize(recipe.features) == features,
          "there are columns for {} features, and the model has {}; allowed: none or one per feature",
          recipe.features.size(), features);
  for (std::size_t f = 0; f < recipe.features.size(); ++f) {
    const FeatureSource& feature = recipe.features[f];
    const bool same_column = f > 0 && feature.column == recipe.features[f - 1].column;
    require(!same_column || (feature.category && recipe.features[f - 1].category),
            "column {} makes two features; allowed: one, or one for each of several categories", feature.column);
    require(!std::isinf(feature.fill), "the value that replaces a missing one of column {} is {}; allowed: finite",
            feature.column, feature.fill);
  }
}

void store_recipe(const Recipe& recipe, Container& container) {
  if (recipe.empty()) return;
  nlohmann::json& description = container.metadata[kColumns];
  Vector fill(std::ssize(recipe.features));
  for (Index f = 0; f < fill.size(); ++f) {
    const FeatureSource& feature = recipe.features[f];
    nlohmann::json source = {feature.column};
    if (feature.category) source.push_back(*feature.category);
    description["features"].push_back(std::move(source));
    fill(f) = feature.fill;
  }
  description["named"] = recipe.named;
  description["missing"] = to_string(recipe.missing);
  description["label"] = recipe.label;
  description["id"] = recipe.id;
  description["target"] = recipe.target;
  description["others"] = recipe.others;
  container.put(kFill, fill);
}

Recipe restore_recipe(const Container& container) {
  Recipe recipe;
  if (!container.metadata.contains(kColumns)) return recipe;
  const nlohmann::json& description = container.metadata[kColumns];
  const Vector fill = container.vector(kFill);
  const nlohmann::json& features = description.at("features");
  require(std::ssize(features) == fill.size(), "invalid: columns.features has {} entries and {} has {}",
          features.size(), kFill, fill.size());
  for (Index f = 0; f < fill.size(); ++f) {
    const nlohmann::json& source = features.at(f);
    require(source.is_array() && (source.size() == 1 || source.size() == 2),
            "invalid: columns.features[{}] is not a name and perhaps a category", f);
    recipe.features.push_back({source.at(0).get<std::string>(), std::nullopt, fill(f)});
    if (source.size() == 2) recipe.features.back().category = source.at(1).get<std::string>();
  }
  recipe.named = description.value("named", false);
  recipe.missing =
      value_named(kAllMissingValues, description.value("missing", std::string("refuse")), "invalid: columns.missing");
  recipe.label = description.value("label", std::string());
  recipe.id = description.value("id", std::string());
  recipe.target = description.value("target", std::string());
  recipe.others = description.value("others", std::vector<std::string>());
  return recipe;
}

}  // namespace bregmax::internal
