#pragma once

// What a fit is made of, shared by a single fit and by the fits of a cross-validation.

#include "bregmax/learn/fit.hpp"

namespace bregmax::internal {

void check_rows(const MatrixView& rows);
Scaling make_scaling(const MatrixView& rows, Scale scale);
LearningProblem make_problem(const Scaling& scaling, const MatrixView& rows, const Supervision& supervision,
                             const FitOptions& options);
TrainingRecord make_record(const LearningProblem& problem, const FitOptions& options, const SolveReport& report);

double total_weight(const Supervision& supervision);

}  // namespace bregmax::internal
