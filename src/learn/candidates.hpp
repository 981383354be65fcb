#pragma once

#include "bregmax/learn/run.hpp"

namespace bregmax::internal {

// What the method learns from on all rows. `kind`: index into planned.supervision.
MethodSupervision draw_supervision(const PlannedMethod& planned, const TrainingData& data, Scale scale,
                                   std::size_t kind);

// Throws Error if a list of the plan is empty or has a value that is not allowed.
void check_plan(const Plan& plan, const TrainingData& data);

// Names the plan and the data in a file of finished scores: two fits with the same mark have the same scores.
std::string mark_of(const Plan& plan, const TrainingData& data);

}  // namespace bregmax::internal
