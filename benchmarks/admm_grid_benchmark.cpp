// The method for complete grids on one thread: against an implementation that stores every array, with the same
// iterates; its memory; and how the time of an iteration grows. Fails where a limit is missed.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <ctime>
#include <numeric>
#include <vector>

#include "admm_grid_reference.hpp"
#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/core/threads.hpp"
#include "optimize/admm/engine.hpp"

namespace bregmax::benchmarks {
namespace {

constexpr Index kFeatures = 10, kRows = 2000;

LearningProblem all_pairs_problem(Index rows) {
  Random random(1);
  LearningProblem problem;
  LabelPairs pairs;
  problem.points.resize(rows, kFeatures);
  for (Index i = 0; i < rows; ++i) {
    pairs.class_of_row.push_back(static_cast<int>(i % 2));
    for (Index j = 0; j < kFeatures; ++j) problem.points(i, j) = random.normal() + static_cast<double>(i % 2);
  }
  problem.supervision = std::move(pairs);
  problem.pieces = static_cast<int>(rows);
  problem.piece_of.resize(static_cast<std::size_t>(rows));
  std::iota(problem.piece_of.begin(), problem.piece_of.end(), 0);
  problem.lambda = 100;
  return problem;
}

template <class Number>
internal::AdmmGrid<Number> started(const internal::GridProblem& problem) {
  internal::AdmmGrid<Number> method(problem);
  method.start();
  return method;
}

ReferenceAdmm started_reference(const internal::GridProblem& problem) {
  const double norm_weight = internal::kFirstNormWeight * static_cast<double>(problem.pieces);
  return {problem, internal::kFirstPenalty, norm_weight, internal::kOverRelaxation};
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The mean time of an iteration, without the first two, which touch memory for the first time.
template <class Method>
double seconds_an_iteration(Method& method, int iterations) {
  for (int t = 0; t < 2; ++t) method.iterate();
  const double begin = processor_seconds();
  for (int t = 0; t < iterations; ++t) method.iterate();
  return (processor_seconds() - begin) / iterations;
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

bool iterates_agree() {
  const internal::GridProblem problem(all_pairs_problem(200));
  auto method = started<double>(problem);
  ReferenceAdmm reference = started_reference(problem);
  double apart = 0;
  for (int t = 0; t < 15; ++t) {
    method.iterate();
    reference.iterate();
    apart = std::max({apart, (method.z() - reference.z()).cwiseAbs().maxCoeff(),
                      (method.slopes() - reference.slopes()).cwiseAbs().maxCoeff()});
  }
  fmt::print("iterates of both, 200 rows, 15 iterations: apart by {:.1e} at most\n", apart);
  return apart < 1e-9;
}

bool memory_is_bounded() {
  const double numbers = static_cast<double>(kRows) * static_cast<double>(kRows);
  const LearningProblem problem = all_pairs_problem(kRows);
  const AdmmOptions options{.max_iterations = 20};
  const Solution solution = internal::run_admm(*internal::make_grid_engine(problem, options), problem, options);
  const double peak = peak_bytes();
  fmt::print("{} rows, {} iterations and the proofs: peak of the process {:.0f} MB = {:.2f} n^2 numbers (limit 3)\n",
             kRows, solution.report.iterations, peak / 1e6, peak / (8 * numbers));
  return peak <= 3 * 8 * numbers;
}

bool is_fast_enough() {
  constexpr double kLeastRatio = 8;
  const internal::GridProblem problem(all_pairs_problem(kRows));
  auto method = started<double>(problem);
  auto narrow = started<float>(problem);
  ReferenceAdmm reference = started_reference(problem);
  const double ours = seconds_an_iteration(method, 15), in_float = seconds_an_iteration(narrow, 15);
  const double theirs = seconds_an_iteration(reference, 4);
  fmt::print("{} rows, {} features, an iteration: {:.1f} ms, stored as float {:.1f} ms; every array stored {:.1f} ms\n",
             kRows, kFeatures, 1e3 * ours, 1e3 * in_float, 1e3 * theirs);
  fmt::print("iterations per second: {:.1f} times as many (limit {})\n", theirs / ours, kLeastRatio);
  return theirs / ours >= kLeastRatio;
}

void print_growth() {
  const std::vector<Index> sizes = {1000, 1400, 2000, 2800, 4000};
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Index rows : sizes) {
    const internal::GridProblem problem(all_pairs_problem(rows));
    auto method = started<double>(problem);
    const double seconds = seconds_an_iteration(method, 12);
    fmt::print("{:>6} rows, as many pieces: {:.1f} ms an iteration\n", rows, 1e3 * seconds);
    const double x = std::log(static_cast<double>(rows)), y = std::log(seconds);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  const auto count = static_cast<double>(sizes.size());
  const double exponent = (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
  fmt::print("fitted exponent {:.2f} (rows times pieces: 2)\n", exponent);
}

}  // namespace

int run() {
  const ThreadLimit single(1);
  // Memory first: the peak is of the process.
  const bool bounded = memory_is_bounded(), agree = iterates_agree(), fast = is_fast_enough();
  print_growth();
  return bounded && agree && fast ? 0 : 1;
}

}  // namespace bregmax::benchmarks

int main(int, char** argv) {
  bregmax::restart_with_better_blas_kernels(argv);
  return bregmax::benchmarks::run();
}
