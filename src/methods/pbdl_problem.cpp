#include "methods/pbdl_problem.hpp"

#include <algorithm>
#include <numeric>

namespace bregmax::internal {
namespace {

void assign_pieces(const PbdlOptions& options, LearningProblem& problem) {
  const Index rows = problem.points.rows();
  if (options.piece_of) {
    problem.piece_of = *options.piece_of;
    problem.pieces =
        problem.piece_of.empty() ? 0 : *std::max_element(problem.piece_of.begin(), problem.piece_of.end()) + 1;
  } else if (options.pieces == 0 || options.pieces == rows) {
    problem.piece_of.resize(static_cast<std::size_t>(rows));
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

double total_weight(const Supervision& supervision) {
  return std::visit(
      [](const auto& items) {
        double sum = 0;
        for (const auto& item : items) sum += item.weight;
        return sum;
      },
      supervision);
}

}  // namespace bregmax::internal
