#include "optimize/problems.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "bregmax/core/threads.hpp"

namespace bregmax::test {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

std::string to_string(Kind kind) {
  return kind == Kind::kComparisons ? "comparisons" : kind == Kind::kPairs ? "pairs" : "targets";
}

std::vector<int> own_pieces(Index rows) {
  std::vector<int> pieces(at(rows));
  std::iota(pieces.begin(), pieces.end(), 0);
  return pieces;
}

std::vector<int> random_pieces(Random& random, Index rows, int pieces) {
  std::vector<int> piece_of(at(rows));
  const auto order = random.permutation(rows);
  for (Index r = 0; r < rows; ++r) {
    piece_of[at(order[at(r)])] = r < pieces ? static_cast<int>(r) : static_cast<int>(random.uniform_index(pieces));
  }
  return piece_of;
}

std::vector<int> nearest_pieces(Random& random, const Matrix& rows, int pieces) {
  const auto order = random.permutation(rows.rows());
  std::vector<int> piece_of(at(rows.rows()));
  for (Index i = 0; i < rows.rows(); ++i) {
    double best = kNoBound;
    for (int k = 0; k < pieces; ++k) {
      const double distance = (rows.row(i) - rows.row(order[at(k)])).squaredNorm();
      if (distance < best) {
        best = distance;
        piece_of[at(i)] = k;
      }
    }
  }
  for (int k = 0; k < pieces; ++k) piece_of[at(order[at(k)])] = k;
  return piece_of;
}

Matrix normal_rows(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (double& x : out.reshaped()) x = random.normal();
  return out;
}

Vector normal_vector(Random& random, Index size) { return normal_rows(random, size, 1); }

Supervision random_supervision(Random& random, Kind kind, Index rows, Index items) {
  const auto row = [&] { return random.uniform_index(rows); };
  if (kind == Kind::kComparisons) {
    Comparisons comparisons;
    for (Index t = 0; t < items; ++t) comparisons.push_back({row(), row(), row(), row()});
    return comparisons;
  }
  if (kind == Kind::kPairs) {
    Pairs pairs;
    for (Index t = 0; t < items; ++t) pairs.push_back({row(), row(), random.uniform() < 0.5});
    return pairs;
  }
  Targets targets;
  for (Index t = 0; t < items; ++t) targets.push_back({row(), row(), 2 * random.uniform()});
  return targets;
}

LearningProblem make_problem(Matrix points, std::vector<int> piece_of, Supervision supervision, double lambda,
                             double lipschitz_bound) {
  LearningProblem problem;
  problem.points = std::move(points);
  problem.piece_of = std::move(piece_of);
  problem.pieces = 1 + *std::max_element(problem.piece_of.begin(), problem.piece_of.end());
  problem.supervision = std::move(supervision);
  problem.lambda = lambda;
  problem.lipschitz_bound = lipschitz_bound;
  return problem;
}

LearningProblem make_problem(Matrix points, Supervision supervision, double lambda, double lipschitz_bound) {
  auto pieces = own_pieces(points.rows());
  return make_problem(std::move(points), std::move(pieces), std::move(supervision), lambda, lipschitz_bound);
}

LearningProblem random_problem(Random& random, Kind kind) {
  const Index rows = 2 + random.uniform_index(12), features = 1 + random.uniform_index(4);
  const Index items = 1 + random.uniform_index(40);
  Matrix points = normal_rows(random, rows, features);
  if (random.uniform() < 0.2) points.row(rows - 1) = points.row(0);
  const int pieces = 1 + static_cast<int>(random.uniform_index(rows));
  const Index layout = random.uniform_index(3);
  auto piece_of = layout == 0   ? own_pieces(rows)
                  : layout == 1 ? nearest_pieces(random, points, pieces)
                                : random_pieces(random, rows, pieces);
  const double lambda = std::pow(10, -3 + 4 * random.uniform()), bound = std::pow(10, -1 + 2 * random.uniform());
  const Index regularisation = random.uniform_index(3);
  auto supervision = random_supervision(random, kind, rows, items);
  return make_problem(std::move(points), std::move(piece_of), std::move(supervision), regularisation == 1 ? 0 : lambda,
                      regularisation == 0 ? kNoBound : bound);
}

Matrix divergence_grid(const LearningProblem& problem, const Solution& solution) {
  Matrix grid(problem.points.rows(), problem.pieces);
  const auto value = [&](Index i, Index k) {
    return problem.points.row(i).dot(solution.slopes.row(k)) + solution.offsets(k);
  };
  for (Index i = 0; i < grid.rows(); ++i) {
    for (Index k = 0; k < grid.cols(); ++k) grid(i, k) = value(i, problem.piece_of[at(i)]) - value(i, k);
  }
  return grid;
}

double divergence_scale(const LearningProblem& problem, const Solution& solution) {
  double scale = 1 + divergence_grid(problem, solution).maxCoeff();
  if (const auto* targets = std::get_if<Targets>(&problem.supervision)) {
    for (const auto& item : *targets) scale = std::max(scale, std::abs(item.value));
  }
  return scale;
}

double zero_objective(const LearningProblem& problem) {
  const auto loss = [](const auto& item) {
    if constexpr (requires { item.value; }) return item.weight * item.value * item.value;
    if constexpr (requires { item.similar; }) return item.similar ? 0 : 2 * item.weight;
    return item.weight;
  };
  const auto sum = [&](const auto& items) {
    double total = 0;
    for (const auto item : items) total += loss(item);
    return total;
  };
  return std::visit(sum, problem.supervision);
}

std::string describe(const LearningProblem& problem) {
  return fmt::format(
      "{} with {} items, n = {}, d = {}, K = {}, lambda = {}, bound = {}",
      std::holds_alternative<LabelPairs>(problem.supervision) ? "label pairs"
                                                              : to_string(kKinds[problem.supervision.index()]),
      std::visit([](const auto& items) { return items.size(); }, problem.supervision), problem.points.rows(),
      problem.points.cols(), problem.pieces, problem.lambda, problem.lipschitz_bound);
}

void expect_sound(const LearningProblem& problem, const Solution& solution) {
  ASSERT_EQ(solution.slopes.rows(), problem.pieces);
  ASSERT_EQ(solution.slopes.cols(), problem.points.cols());
  ASSERT_EQ(solution.offsets.size(), problem.pieces);
  ASSERT_EQ(solution.dual.convexity.rows(), problem.points.rows());
  ASSERT_EQ(solution.dual.convexity.cols(), problem.pieces);
  EXPECT_TRUE(solution.slopes.allFinite() && solution.offsets.allFinite());
  EXPECT_TRUE(solution.dual.convexity.allFinite() && solution.dual.items.allFinite());
  const SolveReport& report = solution.report;
  for (const double number :
       {report.seconds, report.objective, report.loss, report.lipschitz, report.lower_bound, report.relative_gap,
        report.primal_residual, report.dual_residual, report.convexity_violation}) {
    EXPECT_TRUE(std::isfinite(number)) << number;
  }
  const Certificate certificate = certify(problem, solution);
  EXPECT_EQ(certificate.objective, report.objective);
  EXPECT_EQ(certificate.loss, report.loss);
  EXPECT_EQ(certificate.lipschitz, report.lipschitz);
  EXPECT_EQ(certificate.lower_bound, report.lower_bound);
  EXPECT_EQ(certificate.relative_gap, report.relative_gap);
  EXPECT_EQ(certificate.convexity_violation, report.convexity_violation);
  EXPECT_GE(report.lower_bound, 0);
}

void expect_optimal(const LearningProblem& problem, const Solution& solution) {
  const SolveReport& report = solution.report;
  expect_sound(problem, solution);
  EXPECT_EQ(report.status, Status::kOptimal) << to_string(report.status) << " " << describe(problem);
  EXPECT_LE(report.relative_gap, 1e-8) << describe(problem);
  EXPECT_GE(report.relative_gap, -1e-8) << describe(problem);
  EXPECT_LE(report.lipschitz, problem.lipschitz_bound * (1 + 1e-8)) << describe(problem);
  EXPECT_LE(report.objective, zero_objective(problem) * (1 + 1e-8)) << describe(problem);
  EXPECT_LE(report.convexity_violation, 1e-8 * divergence_scale(problem, solution)) << describe(problem);
}

Solution solve(const LearningProblem& problem, const InteriorPointOptions& options, const RunControl& control) {
  const ThreadLimit single(1);
  return solve_interior_point(problem, options, control);
}

Solution solve_to_optimality(const LearningProblem& problem) {
  Solution solution = solve(problem);
  expect_optimal(problem, solution);
  return solution;
}

}  // namespace bregmax::test
