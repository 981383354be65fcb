#pragma once

#include <cstdint>
#include <string_view>

#include "bregmax/optimize/admm.hpp"

namespace bregmax::internal {

// Of the checkpoints of admm; src/core/checkpoint_file.hpp has their format.
inline constexpr std::string_view kAdmmMark = "bregmax-admm-checkpoint 6\n";

// A number that identifies the problem, the options that change the iterations, and the engine.
std::uint64_t fingerprint(const LearningProblem& problem, const AdmmOptions& options, std::string_view engine);

}  // namespace bregmax::internal
