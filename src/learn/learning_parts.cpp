#include "learn/learning_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

void assign_pieces(const FitOptions& options, LearningProblem& problem) {
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

std::string supervision_name(const Supervision& supervision) {
  if (std::holds_alternative<Comparisons>(supervision)) return "comparisons";
  return is_pairs(supervision) ? "pairs" : "targets";
}

}  // namespace

void check_rows(const MatrixView& rows) {
  if (rows.rows() == 0 || rows.cols() == 0) {
    throw Error(
        fmt::format("the data is {} x {}; at least one row and one feature are needed", rows.rows(), rows.cols()));
  }
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) {
      if (!std::isfinite(rows(i, j))) {
        throw Error(fmt::format("row {} feature {} is {}; allowed: finite numbers", i, j, rows(i, j)));
      }
    }
  }
}

Scaling make_scaling(const MatrixView& rows, Scale scale) {
  return scale == Scale::kStandard ? Scaling::standard(rows) : Scaling::none(rows.cols());
}

LearningProblem make_problem(const Scaling& scaling, const MatrixView& rows, const Supervision& supervision,
                             const FitOptions& options) {
  LearningProblem problem;
  problem.points = scaling.apply(rows);
  assign_pieces(options, problem);
  problem.supervision = supervision;
  problem.lambda = options.lambda;
  problem.lipschitz_bound = options.lipschitz_bound;
  return problem;
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

TrainingRecord make_record(const LearningProblem& problem, const FitOptions& options, const SolveReport& report) {
  TrainingRecord record;
  record.method = "pbdl";
  record.supervision = supervision_name(problem.supervision);
  record.solver = "exact";
  record.status = to_string(report.status);
  record.rows = problem.points.rows();
  record.items = item_count(problem.supervision);
  record.lambda = problem.lambda;
  record.lipschitz_bound = problem.lipschitz_bound;
  record.lipschitz = report.lipschitz;
  record.loss = report.loss;
  record.objective = report.objective;
  record.lower_bound = report.lower_bound;
  record.relative_gap = report.relative_gap;
  record.iterations = report.iterations;
  record.seconds = report.seconds;
  record.seed = options.seed;
  record.drawn = "given";
  return record;
}

}  // namespace bregmax::internal
