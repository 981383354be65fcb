#include "bregmax/learn/fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/factory.hpp"
#include "bregmax/learn/tune.hpp"
#include "bregmax/optimize/interior_point.hpp"
#include "learn/fold_scores.hpp"
#include "learn/held_out_items.hpp"
#include "learn/learning_parts.hpp"
#include "learn/solver_choice.hpp"

namespace bregmax {
namespace {

void check_options(const FitOptions& options) {
  if (!(options.smoothing >= 0) || !std::isfinite(options.smoothing)) {
    throw Error(fmt::format("smoothing is {}; allowed: a finite number >= 0", options.smoothing));
  }
  if (options.early_stop && options.solver != Solver::kAdmm) throw Error("early_stop is for the solver kAdmm only");
  if (options.pieces < 0) throw Error(fmt::format("pieces is {}; allowed: 0 (every row) or more", options.pieces));
}

Solution solve_with_admm(LearningProblem& problem, const FitOptions& options, const RunControl& control) {
  constexpr int kFolds = 5;
  AdmmOptions admm = options.admm;
  admm.time_limit = options.time_limit;
  if (!options.early_stop) return solve_admm(problem, admm, control);
  const Index items = item_count(problem.supervision);
  if (items < kFolds) {
    throw Error(fmt::format("early stopping holds out a fifth of the supervision, which has {}; at least {} are needed",
                            items, kFolds));
  }
  auto [train, held_out] = internal::hold_out_items(problem.supervision, kFolds, options.seed);
  problem.supervision = std::move(train);
  admm.validation = [&, &judges = held_out](const AffinePieces& model) {
    return internal::mean_loss(*make_max_affine(model.slopes, model.offsets, 0), problem.points, judges);
  };
  return solve_admm(problem, admm, control);
}

constexpr Index kMostRowsToApply = 3000;  // a matrix of all their divergences is small

}  // namespace

bool FitResult::applies_as_counted() const {
  constexpr double kRounding = 1e-6;
  return !applied_loss || std::abs(*applied_loss - report.loss) <= kRounding * (1 + std::abs(report.loss));
}

FitResult fit(const MatrixView& rows, const Supervision& supervision, const FitOptions& options,
              const RunControl& control) {
  check_options(options);
  internal::check_rows(rows);
  FitResult result;
  result.model.scaling = internal::make_scaling(rows, options.scale);
  LearningProblem problem = internal::make_problem(result.model.scaling, rows, supervision, options);

  const bool admm = internal::takes_admm(problem, options, result.solver_reason);
  if (admm && !result.solver_reason.empty()) control.log("solver admm: " + result.solver_reason);
  Solution solution =
      admm ? solve_with_admm(problem, options, control)
           : solve_interior_point(problem, {options.tolerance, options.max_iterations, options.time_limit}, control);
  result.report = solution.report;
  result.certificate = certify(problem, solution);
  result.model.divergence = make_max_affine(std::move(solution.slopes), std::move(solution.offsets), options.smoothing);
  result.model.record = internal::make_record(problem, options, result.report);
  result.model.record.solver = admm ? "admm" : "exact";
  if (problem.points.rows() <= kMostRowsToApply) {
    result.applied_loss = internal::sum_losses(*result.model.divergence, problem.points, problem.supervision).loss;
  }
  result.model.record.constant = is_constant(*result.model.divergence, problem.points);
  return result;
}

}  // namespace bregmax
