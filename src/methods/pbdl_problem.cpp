#include "methods/pbdl_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "methods/item_losses.hpp"

namespace bregmax::internal {
namespace {

void assign_pieces(const PbdlOptions& options, LearningProblem& problem) {
  const Index rows = problem.points.rows();
  if (options.piece_of) {
    problem.piece_of = *options.piece_of;
    problem.pieces = problem.piece_of.empty() ? 0 : std::ranges::max(problem.piece_of) + 1;
  } else if (options.pieces == 0 || options.pieces == rows) {
    problem.piece_of.resize(rows);
    std::iota(problem.piece_of.begin(), problem.piece_of.end(), 0);
    problem.pieces = static_cast<int>(rows);
  } else {
    FarthestPointCells cells = farthest_point_cells(problem.points, options.pieces, options.seed);
    problem.piece_of = std::move(cells.piece_of);
    problem.centres = std::move(cells.centres);
    problem.pieces = options.pieces;
  }
}

}  // namespace

LearningProblem make_problem(Matrix points, const Supervision& supervision, const PbdlOptions& options) {
  LearningProblem problem;
  problem.points = std::move(points);
  assign_pieces(options, problem);
  problem.supervision = supervision;
  problem.lambda = options.lambda;
  problem.lipschitz_bound = options.lipschitz_bound;
  return problem;
}

PbdlOptions pbdl_options(const MethodChoices& choices) {
  PbdlOptions options;
  options.lambda = choices.number("lambda");
  options.smoothing = choices.number("smoothing");
  options.pieces = choices.whole("pieces");
  options.lipschitz_bound = choices.number("lipschitz");
  options.piece_of = choices.asked.piece_of;
  options.tolerance = choices.asked.tolerance;
  options.max_iterations = choices.asked.max_iterations;
  options.time_limit = choices.asked.time_limit;
  options.seed = choices.seed;
  options.solver = choices.asked.solver;
  return options;
}

// Counts the multiplications of some thirty iterations: in matrix products and factorizations, and in updates of single
// entries of a dense matrix. benchmarks/exact_cost.py holds the rates against measurements.
ExactCost predict_exact(const ProblemSize& size) {
  constexpr double kIterations = 30, kProducts = 1e10, kUpdates = 6e8;  // multiplications per second
  constexpr double kNearest = 20, kGrowth = 2;  // entries of a piece at the start, and their growth
  const auto [rows, features, pieces, all_items, coupled] = size;
  const double unknowns = pieces * (features + 1), items = coupled ? all_items : 0.0;
  const bool anchored = pieces == rows;
  const double squares = rows * pieces * features * features, dense = unknowns * unknowns * unknowns / 3;
  // How many other pieces the entries of a piece involve.
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

ExactCost predict_exact(const LearningProblem& problem) {
  return predict_exact({static_cast<double>(problem.points.rows()), static_cast<double>(problem.points.cols()),
                        static_cast<double>(problem.pieces), static_cast<double>(item_count(problem.supervision)),
                        std::holds_alternative<Comparisons>(problem.supervision)});
}

InteriorPointOptions exact_options(const PbdlOptions& options) {
  return {options.tolerance.value_or(kPbdlLimits.tolerance),
          options.max_iterations.value_or(kPbdlLimits.max_iterations), options.time_limit};
}

AdmmOptions admm_options(const PbdlOptions& options) {
  AdmmOptions admm;
  if (options.tolerance) admm.tolerance = std::max(kLeastAdmmTolerance, *options.tolerance);
  admm.max_iterations = options.max_iterations.value_or(admm.max_iterations);
  admm.time_limit = options.time_limit;
  admm.memory_limit = options.solver.memory_limit;
  admm.precision = options.solver.precision;
  admm.checkpoint = options.solver.checkpoint;
  admm.checkpoint_every = options.solver.checkpoint_every;
  admm.resume = options.solver.resume;
  return admm;
}

bool takes_admm(const LearningProblem& problem, const PbdlOptions& options, std::string& reason) {
  constexpr double kGiga = 1e9;
  const SolverSettings& solver = options.solver;
  if (solver.solver != Solver::kAuto) return solver.solver == Solver::kAdmm;
  const ExactCost cost = predict_exact(problem);
  reason =
      fmt::format("the exact solver is predicted to take {:.2g} s and {:.2g} GB", cost.seconds, cost.bytes / kGiga);
  return cost.is_above(solver.exact_seconds, solver.memory_limit);
}

bool tunes_by_admm(const LearningProblem& problem, const SolverSettings& solver) {
  return solver.solver != Solver::kExact && predict_exact(problem).is_above(solver.fold_seconds, solver.memory_limit);
}

double resolution_of(const Supervision& supervision, double relative_gap) {
  constexpr double kOfTheRoot = 0.1, kLeast = 1e-7, kMost = 1e-3;
  double unit = 1;
  if (std::holds_alternative<Targets>(supervision)) {
    const LossSum zero = zero_model_losses(supervision);
    unit = zero.weight > 0 ? std::sqrt(zero.loss / zero.weight) : 0;
  }
  const double share = std::isfinite(relative_gap) ? kOfTheRoot * std::sqrt(std::max(0.0, relative_gap)) : kMost;
  return unit * std::clamp(share, kLeast, kMost);
}

Solution solve_for_tuning(const LearningProblem& problem, const PbdlOptions& options, const RunControl& control) {
  constexpr int kMostIterations = 400;
  if (tunes_by_admm(problem, options.solver)) {
    const double tolerance = admm_options(options).tolerance, memory_limit = options.solver.memory_limit;
    return solve_admm(
        problem, {.tolerance = tolerance, .max_iterations = kMostIterations, .memory_limit = memory_limit}, control);
  }
  InteriorPointOptions exact = exact_options(options);
  exact.time_limit = 0;  // the cross-validation has the clock
  return solve_interior_point(problem, exact, control);
}

}  // namespace bregmax::internal
