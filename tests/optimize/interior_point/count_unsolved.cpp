// Counts what the exact solver does not prove optimal among many more of the hard problems than a test can take.
//
//   count_unsolved [SEEDS [FAMILY [FIRST_SEED]]]

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "bregmax/core/blas_kernels.hpp"
#include "optimize/hard_problems.hpp"

namespace bregmax {
namespace {

struct Count {
  int problems = 0, unsolved = 0;
  int partial = 0;  // there is a price or a bound, and what is proved does not hold for every model
  int most_iterations = 0;
  double lowest_gap = 0, most_seconds = 0;
};

Count count(const test::Family& family, test::Kind kind, int first_seed, int seeds) {
  Count sum;
  for (int seed = first_seed; seed < first_seed + seeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const LearningProblem problem = family.make(random, kind);
    const Solution solution = test::solve(problem);
    const SolveReport& report = solution.report;
    ++sum.problems;
    sum.most_iterations = std::max(sum.most_iterations, report.iterations);
    sum.lowest_gap = std::min(sum.lowest_gap, report.relative_gap);
    sum.most_seconds = std::max(sum.most_seconds, report.seconds);
    const bool priced = problem.lambda > 0 || std::isfinite(problem.lipschitz_bound);
    sum.partial += priced && certify(problem, solution).valid_up_to_lipschitz < problem.lipschitz_bound ? 1 : 0;
    if (report.status == Status::kOptimal) continue;
    ++sum.unsolved;
    fmt::print("  seed {}: {}, gap {:.1e}, convexity violated by {:.1e}, {} iterations, L {:.1e}: {}\n", seed,
               to_string(report.status), report.relative_gap, report.convexity_violation, report.iterations,
               report.lipschitz, test::describe(problem));
  }
  return sum;
}

}  // namespace
}  // namespace bregmax

int main(int argc, char** argv) {
  using namespace bregmax;
  restart_with_better_blas_kernels(argv);
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::string_view only = argc > 2 ? argv[2] : "";
  const int first_seed = argc > 3 ? std::atoi(argv[3]) : 0;
  int unsolved = 0;
  fmt::print("{:<34}{:<13}{:>9}{:>9}{:>9}{:>12}{:>12}{:>9}\n", "family", "kind", "problems", "unsolved", "partial",
             "iterations", "lowest gap", "seconds");
  for (const test::Family& family : test::hard_families()) {
    if (!only.empty() && only != family.name) continue;
    for (const test::Kind kind : test::kKinds) {
      const Count sum = count(family, kind, first_seed, seeds);
      unsolved += sum.unsolved;
      fmt::print("{:<34}{:<13}{:>9}{:>9}{:>9}{:>12}{:>12.1e}{:>9.2f}\n", family.name, test::to_string(kind),
                 sum.problems, sum.unsolved, sum.partial, sum.most_iterations, sum.lowest_gap, sum.most_seconds);
      std::fflush(stdout);
    }
  }
  return unsolved == 0 ? 0 : 1;
}
