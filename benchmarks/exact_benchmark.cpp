// The exact solver with one thread on the cheap cases, in which only a K x K system is left: all ordered pairs, and
// targets for all ordered pairs. Fails where the limit in seconds is missed, which ends each line.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/optimize/interior_point.hpp"
#include "bregmax/supervision/sample.hpp"
#include "failure.hpp"

namespace bregmax {
namespace {

// With one piece per row.
LearningProblem problem_on(Matrix points, double lambda) {
  LearningProblem problem;
  problem.points = std::move(points);
  problem.pieces = static_cast<int>(problem.points.rows());
  problem.piece_of.resize(static_cast<std::size_t>(problem.pieces));
  std::iota(problem.piece_of.begin(), problem.piece_of.end(), 0);
  problem.lambda = lambda;
  return problem;
}

LearningProblem gaussian_pairs(double lambda) {
  constexpr Index kRows = 500, kFeatures = 10;
  Random random(1);
  std::vector<int> classes(kRows);
  Matrix points(kRows, kFeatures);
  for (Index i = 0; i < kRows; ++i) {
    const int row_class = i % 2 == 0 ? 0 : 1;
    classes[static_cast<std::size_t>(i)] = row_class;
    for (Index j = 0; j < kFeatures; ++j) points(i, j) = random.normal() + row_class;
  }
  LearningProblem problem = problem_on(std::move(points), lambda);
  problem.supervision = all_pairs(classes);
  return problem;
}

LearningProblem balance_scale_pairs(double lambda) {
  const Table table = load_builtin("balance-scale");
  Random random(0);
  const Table train = select_rows(table, random_split(table.features.rows(), 2.0 / 3, random).train);
  LearningProblem problem = problem_on(train.features, lambda);
  problem.supervision = all_pairs(train.labels->of_row);
  return problem;
}

LearningProblem noisy_squared_euclidean_targets() {
  constexpr Index kRows = 1000, kFeatures = 10;
  constexpr double kNoise = 0.05;
  Random random(2);
  Matrix points(kRows, kFeatures);
  for (double& x : points.reshaped()) x = random.normal();
  Targets targets;
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kRows; ++j) {
      if (i == j) continue;
      targets.push_back({i, j, (points.row(i) - points.row(j)).squaredNorm() + kNoise * random.normal()});
    }
  }
  LearningProblem problem = problem_on(std::move(points), 0);
  problem.supervision = std::move(targets);
  return problem;
}

void measure(benchmark::State& state, const LearningProblem& problem, double limit) {
  const ThreadLimit single(1);
  Solution solution;
  for (auto _ : state) solution = solve_interior_point(problem);
  const SolveReport& report = solution.report;
  if (report.status != Status::kOptimal) fail_benchmark(state, "status " + to_string(report.status));
  if (report.seconds > limit) fail_benchmark(state, fmt::format("{:.1f} s; limit {} s", report.seconds, limit));
  state.counters["rows"] = static_cast<double>(problem.points.rows());
  state.counters["iters"] = report.iterations;
  state.counters["gap"] = report.relative_gap;
  state.counters["limit_s"] = limit;
}

// lambda = 10^exponent
double lambda_of(const benchmark::State& state) { return std::pow(10.0, static_cast<double>(state.range(0))); }

void all_pairs_of_500_gaussian_rows(benchmark::State& state) { measure(state, gaussian_pairs(lambda_of(state)), 5); }

void all_pairs_of_balance_scale(benchmark::State& state) { measure(state, balance_scale_pairs(lambda_of(state)), 2); }

void all_targets_of_1000_rows(benchmark::State& state) { measure(state, noisy_squared_euclidean_targets(), 30); }

BENCHMARK(all_pairs_of_500_gaussian_rows)
    ->ArgName("log10_lambda")
    ->Arg(-2)
    ->Arg(0)
    ->Arg(2)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK(all_pairs_of_balance_scale)
    ->ArgName("log10_lambda")
    ->Arg(-2)
    ->Arg(0)
    ->Arg(2)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK(all_targets_of_1000_rows)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace bregmax
