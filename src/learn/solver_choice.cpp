#include "learn/solver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bregmax/optimize/interior_point.hpp"
#include "learn/learning_parts.hpp"

namespace bregmax::internal {

// Multiplications of one iteration, some thirty of which are made: in matrix products and factorizations, and in
// updates of a dense matrix by single entries. benchmarks/exact_cost.py holds the rates against measurements.
ExactCost predict_exact(const LearningProblem& problem) {
  constexpr double kIterations = 30, kProducts = 1e10, kUpdates = 6e8;  // multiplications a second
  constexpr double kNearest = 20, kGrowth = 2;                          // entries that a piece starts with, and gains
  const auto rows = static_cast<double>(problem.points.rows()), features = static_cast<double>(problem.points.cols());
  const double pieces = problem.pieces, unknowns = pieces * (features + 1);
  const bool coupled = std::holds_alternative<Comparisons>(problem.supervision), anchored = problem.pieces == rows;
  const auto all_items = static_cast<double>(item_count(problem.supervision)), items = coupled ? all_items : 0.0;
  const double squares = rows * pieces * features * features, dense = unknowns * unknowns * unknowns / 3;
  // What the entries of a piece touch of the other pieces.
  const double width = std::min(pieces, kGrowth * (all_items / pieces + kNearest + features));
  const double arrow =
      pieces * (width * width * features + pieces * pieces / 3) + items * items * (items / 3 + features);
  if (anchored) {
    const bool takes_arrow = arrow < dense;
    const double held = takes_arrow ? pieces * unknowns + items * items : unknowns * unknowns;
    return {kIterations * (squares + (takes_arrow ? arrow : dense)) / kProducts, 8 * (20 * rows * pieces + 2 * held)};
  }
  // An entry of a location away from its owner's anchor meets two slopes, a comparison four.
  const double updates = squares + 8 * items * (features + 1) * (features + 1);
  return {kIterations * (dense / kProducts + updates / kUpdates), 8 * (20 * rows * pieces + 2 * unknowns * unknowns)};
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

Solution solve_for_tuning(const LearningProblem& problem, const FitOptions& options, const RunControl& control) {
  constexpr double kMostSeconds = 60;  // a fold of hundreds of rows stays exact: few iterations make poor choices
  constexpr int kMostIterations = 400;
  const ExactCost cost = predict_exact(problem);
  const bool too_large = options.admm.memory_limit > 0 && cost.bytes > options.admm.memory_limit;
  if (options.solver != Solver::kExact && (cost.seconds > kMostSeconds || too_large)) {
    AdmmOptions admm;
    admm.memory_limit = options.admm.memory_limit;
    admm.tolerance = std::max(options.admm.tolerance, options.tolerance);
    admm.max_iterations = kMostIterations;
    return solve_admm(problem, admm, control);
  }
  return solve_interior_point(problem, {options.tolerance, options.max_iterations, 0}, control);
}

}  // namespace bregmax::internal
