#pragma once

#include "bregmax/learn/run.hpp"

namespace bregmax::internal {

// The findings about an outcome in which everything but the diagnosis is filled in.
std::vector<Finding> diagnose(const Plan& plan, const TrainingData& data, const FitOutcome& outcome);

}  // namespace bregmax::internal
