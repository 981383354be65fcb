#include "bregmax/learn/fit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/factory.hpp"
#include "bregmax/learn/tune.hpp"
#include "bregmax/optimize/interior_point.hpp"
#include "learn/fold_scores.hpp"
#include "learn/learning_parts.hpp"

namespace bregmax {
namespace {

void check_options(const FitOptions& options) {
  if (!(options.smoothing >= 0) || !std::isfinite(options.smoothing)) {
    throw Error(fmt::format("smoothing is {}; allowed: a finite number >= 0", options.smoothing));
  }
  if (options.early_stop && options.solver != Solver::kAdmm) throw Error("early_stop is for the solver kAdmm only");
  if (options.pieces < 0) throw Error(fmt::format("pieces is {}; allowed: 0 (every row) or more", options.pieces));
}

// Seconds and bytes of the exact solver, from the cost of one of its some thirty iterations.
struct ExactCost {
  double seconds, bytes;
};

ExactCost predict_exact(const LearningProblem& problem) {
  constexpr double kIterations = 30, kRate = 1e10;  // multiplications a second
  const auto rows = static_cast<double>(problem.points.rows()), features = static_cast<double>(problem.points.cols());
  const double pieces = problem.pieces, unknowns = pieces * (features + 1);
  const bool coupled = std::holds_alternative<Comparisons>(problem.supervision), anchored = problem.pieces == rows;
  const auto items = coupled ? static_cast<double>(item_count(problem.supervision)) : 0.0;
  const double dense = unknowns * unknowns * unknowns / 3;
  const double arrow = pieces * pieces * pieces * (features + 1) + items * items * (items / 3 + features);
  const bool takes_arrow = anchored && arrow < dense;
  const double work = rows * pieces * features * features + (takes_arrow ? arrow : dense);
  const double held = takes_arrow ? pieces * unknowns + items * items : unknowns * unknowns;
  return {kIterations * work / kRate, 8 * (20 * rows * pieces + 2 * held)};
}

bool takes_admm(const LearningProblem& problem, const FitOptions& options, std::string& reason) {
  constexpr double kMostSeconds = 600, kGiga = 1e9, kMostBytes = 8 * kGiga;
  if (options.solver == Solver::kAdmm) return true;
  if (options.solver == Solver::kExact) return false;
  const ExactCost cost = predict_exact(problem);
  reason =
      fmt::format("the exact solver is predicted to take {:.2g} s and {:.2g} GB", cost.seconds, cost.bytes / kGiga);
  const double most_bytes = options.admm.memory_limit > 0 ? options.admm.memory_limit : kMostBytes;
  return cost.seconds > kMostSeconds || cost.bytes > most_bytes;
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
  std::vector<Fold> folds = folds_of_items(problem.points, problem.supervision, kFolds, options.seed);
  problem.supervision = std::move(*folds[0].train_items);
  const Supervision held_out = std::move(folds[0].loss_items);
  folds.clear();
  admm.validation = [&](const AffinePieces& model) {
    return internal::mean_loss(*make_max_affine(model.slopes, model.offsets, 0), problem.points, held_out);
  };
  return solve_admm(problem, admm, control);
}

}  // namespace

FitResult fit(const MatrixView& rows, const Supervision& supervision, const FitOptions& options,
              const RunControl& control) {
  check_options(options);
  internal::check_rows(rows);
  FitResult result;
  result.model.scaling = internal::make_scaling(rows, options.scale);
  LearningProblem problem = internal::make_problem(result.model.scaling, rows, supervision, options);

  const bool admm = takes_admm(problem, options, result.solver_reason);
  if (admm && !result.solver_reason.empty()) control.log("solver admm: " + result.solver_reason);
  Solution solution =
      admm ? solve_with_admm(problem, options, control)
           : solve_interior_point(problem, {options.tolerance, options.max_iterations, options.time_limit}, control);
  result.report = solution.report;
  result.certificate = certify(problem, solution);
  result.model.divergence = make_max_affine(std::move(solution.slopes), std::move(solution.offsets), options.smoothing);
  result.model.record = internal::make_record(problem, options, result.report);
  result.model.record.solver = admm ? "admm" : "exact";
  result.model.record.constant = is_constant(*result.model.divergence, problem.points);
  return result;
}

}  // namespace bregmax
