#pragma once

#include "bregmax/learn/compare.hpp"

namespace bregmax::internal {

// What a method of the comparison is asked to learn on a fold; "auto" is allowed.
FitRequest request_of_method(const ComparePlan& plan, const std::string& method, std::uint64_t seed);

// Its plan: how it chooses its settings within this training part.
Plan plan_of_method(const ComparePlan& plan, const std::string& method, std::uint64_t seed,
                    const TrainingData& training);

}  // namespace bregmax::internal
