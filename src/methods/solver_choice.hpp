#pragma once

#include <string>

#include "bregmax/methods/pbdl.hpp"
#include "bregmax/optimize/interior_point.hpp"

namespace bregmax::internal {

// What the exact solver is predicted to take, by its operation counts and rates that were measured.
struct ExactCost {
  double seconds, bytes;
};
ExactCost predict_exact(const LearningProblem& problem);

InteriorPointOptions exact_options(const PbdlOptions& options);
AdmmOptions admm_options(const PbdlOptions& options);

// Is this problem for ADMM? `reason`: why, where the choice is free.
bool takes_admm(const LearningProblem& problem, const PbdlOptions& options, std::string& reason);

// Solves for a cross-validation, which needs no more than a comparison of candidates: exactly, or where that takes long
// and is not asked for, with a bounded number of iterations of ADMM.
Solution solve_for_tuning(const LearningProblem& problem, const PbdlOptions& options, const RunControl& control);

}  // namespace bregmax::internal
