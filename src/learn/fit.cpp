#include "bregmax/learn/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/factory.hpp"
#include "bregmax/optimize/interior_point.hpp"

namespace bregmax {
namespace {

void check_options(const FitOptions& options) {
  if (!(options.smoothing >= 0) || !std::isfinite(options.smoothing)) {
    throw Error(fmt::format("smoothing is {}; allowed: a finite number >= 0", options.smoothing));
  }
  if (options.pieces < 0) throw Error(fmt::format("pieces is {}; allowed: 0 (every row) or more", options.pieces));
}

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
    problem.piece_of = farthest_point_pieces(problem.points, options.pieces, options.seed);
    problem.pieces = options.pieces;
  }
}

std::string supervision_name(const Supervision& supervision) {
  static constexpr const char* kNames[] = {"comparisons", "pairs", "targets"};
  return kNames[supervision.index()];
}

TrainingRecord make_record(const LearningProblem& problem, const FitOptions& options, const SolveReport& report) {
  TrainingRecord record;
  record.method = "pbdl";
  record.supervision = supervision_name(problem.supervision);
  record.solver = "exact";
  record.status = to_string(report.status);
  record.rows = problem.points.rows();
  record.items = std::visit([](const auto& items) { return static_cast<Index>(items.size()); }, problem.supervision);
  record.lambda = problem.lambda;
  record.lipschitz_bound = problem.lipschitz_bound;
  record.lipschitz = report.lipschitz;
  record.loss = report.loss;
  record.objective = report.objective;
  record.dual_objective = report.dual_objective;
  record.relative_gap = report.relative_gap;
  record.iterations = report.iterations;
  record.seconds = report.seconds;
  record.seed = options.seed;
  return record;
}

}  // namespace

FitResult fit(const MatrixView& rows, const Supervision& supervision, const FitOptions& options,
              const RunControl& control) {
  check_options(options);
  check_rows(rows);
  LearningProblem problem;
  FitResult result;
  result.model.scaling = options.scale == Scale::kStandard ? Scaling::standard(rows) : Scaling::none(rows.cols());
  problem.points = result.model.scaling.apply(rows);
  assign_pieces(options, problem);
  problem.supervision = supervision;
  problem.lambda = options.lambda;
  problem.lipschitz_bound = options.lipschitz_bound;

  const InteriorPointOptions solver_options{options.tolerance, options.max_iterations, options.time_limit};
  Solution solution = solve_interior_point(problem, solver_options, control);
  result.report = solution.report;
  result.certificate = certify(problem, solution);
  result.model.divergence = make_max_affine(std::move(solution.slopes), std::move(solution.offsets), options.smoothing);
  result.model.record = make_record(problem, options, result.report);
  return result;
}

}  // namespace bregmax
