#pragma once

// The parts of a model file.

#include <memory>

#include "bregmax/data/recipe.hpp"
#include "bregmax/divergence/divergence.hpp"
#include "bregmax/model/tuning_record.hpp"
#include "model/container.hpp"

namespace bregmax::internal {

// A divergence as JSON (its kind, and its members) and arrays whose names begin with `prefix`. `depth`: how many
// averages it is a member of.
nlohmann::json store_divergence(const Divergence& divergence, const std::string& prefix, Container& container,
                                int depth = 0);
std::shared_ptr<const Divergence> restore_divergence(const nlohmann::json& description, const std::string& prefix,
                                                     const Container& container, int depth = 0);

// Throws Error when the parts of the record do not fit each other.
void check_tuning(const TuningRecord& record);
void store_tuning(const TuningRecord& record, Container& container);
TuningRecord restore_tuning(const Container& container);

// Throws Error when it does not make this many features.
void check_recipe(const Recipe& recipe, Index features);
void store_recipe(const Recipe& recipe, Container& container);
Recipe restore_recipe(const Container& container);

}  // namespace bregmax::internal
