#pragma once

#include <memory>
#include <string>

#include "bregmax/divergence/divergence.hpp"
#include "model/container.hpp"

namespace bregmax::internal {

// A divergence as JSON (its kind, and its members) and arrays whose names begin with `prefix`.
nlohmann::json store_divergence(const Divergence& divergence, const std::string& prefix, Container& container);
std::shared_ptr<const Divergence> restore_divergence(const nlohmann::json& description, const std::string& prefix,
                                                     const Container& container);

}  // namespace bregmax::internal
