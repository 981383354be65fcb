#pragma once

// What a fit of PBDL is made of, shared by a single fit and by the fits of a cross-validation: its problem and the
// choice of a solver.

#include <string>

#include "bregmax/methods/pbdl.hpp"
#include "bregmax/optimize/interior_point.hpp"

namespace bregmax::internal {

inline constexpr double kLeastAdmmTolerance = 1e-8;

PbdlOptions pbdl_options(const MethodChoices& choices);

// `points`: scaled.
LearningProblem make_problem(Matrix points, const Supervision& supervision, const PbdlOptions& options);

// The predicted cost of the exact solver, from operation counts and measured rates.
struct ExactCost {
  double seconds, bytes;

  // most_bytes 0: no limit.
  bool is_above(double most_seconds, double most_bytes) const {
    return seconds > most_seconds || (most_bytes > 0 && bytes > most_bytes);
  }
};
struct ProblemSize {
  double rows = 0, features = 0, pieces = 0, items = 0;
  bool comparisons = false;  // they couple the slopes of two rows
};
ExactCost predict_exact(const ProblemSize& size);
ExactCost predict_exact(const LearningProblem& problem);

InteriorPointOptions exact_options(const PbdlOptions& options);
AdmmOptions admm_options(const PbdlOptions& options);

// Whether ADMM is to solve this problem. `reason`: the prediction that decides if the solver is `auto`.
bool takes_admm(const LearningProblem& problem, const PbdlOptions& options, std::string& reason);

// Whether ADMM is to solve this problem of a fold, at any lambda: the exact solver would take long and was not asked
// for.
bool tunes_by_admm(const LearningProblem& problem, const SolverSettings& solver);

// What a solver that ended with this relative gap leaves open of a divergence: 0.1 sqrt(gap), from 1e-7 to 1e-3, times
// the margin, or times the root mean square of target values. docs/mathematics.md, section 11, says why.
double resolution_of(const Supervision& supervision, double relative_gap);

// Solves for a cross-validation, which only compares candidates: exactly, or by a bounded number of ADMM iterations.
Solution solve_for_tuning(const LearningProblem& problem, const PbdlOptions& options, const RunControl& control);

// A family per scale, number of pieces and supervision. The candidates of one are lambda x T, with one pass over the
// lambda path per fold. Larger lambdas come first, then smaller temperatures: the simplest model among equals.
CandidateFamilies pbdl_families(const FamilyOptions& options);

}  // namespace bregmax::internal
