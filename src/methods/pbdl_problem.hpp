#pragma once

// What a fit of PBDL is made of, shared by a single fit and by the fits of a cross-validation.

#include "bregmax/methods/pbdl.hpp"

namespace bregmax::internal {

// `points`: scaled.
LearningProblem make_problem(Matrix points, const Supervision& supervision, const PbdlOptions& options);

PbdlOptions pbdl_options(const MethodChoices& choices);

double total_weight(const Supervision& supervision);

}  // namespace bregmax::internal
