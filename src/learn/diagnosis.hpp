#pragma once

#include "bregmax/learn/run.hpp"

namespace bregmax::internal {

// What the user should know about an outcome that is complete but for its diagnosis.
std::vector<Finding> diagnose(const Plan& plan, const TrainingData& data, const FitOutcome& outcome);

}  // namespace bregmax::internal
