// Counts what the exact solver does not prove optimal among many more of the hard problems than a test can take, how
// often each remedy is used, and what is lost without it.
//
//   count_unsolved [SEEDS [FAMILY [FIRST_SEED]]]   FAMILY "all": every family; "DIR/": the labelled CSV files there
//
// BREGMAX_REMEDIES=1 also solves each problem without each remedy that it used; BREGMAX_EACH=1 prints every solve;
// BREGMAX_OFF=NAME,NAME switches remedies off throughout. Exit code 1: something is unsolved that should not be.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/scaling.hpp"
#include "bregmax/data/table.hpp"
#include "bregmax/supervision/sample.hpp"
#include "optimize/hard_problems.hpp"
#include "optimize/interior_point/interior_point.hpp"
#include "optimize/interior_point/remedies.hpp"
#include "optimize/proof/convex_repair.hpp"

namespace bregmax {
namespace {

using internal::kRemedies;
using internal::Recovery;
using internal::Remedy;

const bool kEach = std::getenv("BREGMAX_EACH") != nullptr, kWithout = std::getenv("BREGMAX_REMEDIES") != nullptr;

struct Count {
  int problems = 0, unsolved = 0;
  int partial = 0;  // there is a price or a bound, and what is proved does not hold for every model
  int ties = 0;     // optimal, but at some row another piece than its own is the largest
  int iterations = 0, most_iterations = 0;
  double lowest_gap = 0, highest_gap = 0, seconds = 0, most_seconds = 0;

  void add(const LearningProblem& problem, const Solution& solution) {
    const SolveReport& report = solution.report;
    ++problems;
    iterations += report.iterations;
    seconds += report.seconds;
    most_iterations = std::max(most_iterations, report.iterations);
    lowest_gap = std::min(lowest_gap, report.relative_gap);
    highest_gap = std::max(highest_gap, report.relative_gap);
    most_seconds = std::max(most_seconds, report.seconds);
    const bool priced = problem.lambda > 0 || std::isfinite(problem.lipschitz_bound);
    partial += priced && certify(problem, solution).valid_up_to_lipschitz < problem.lipschitz_bound ? 1 : 0;
    unsolved += report.status == Status::kOptimal ? 0 : 1;
    const bool leads = internal::ConvexRepair(problem).own_pieces_lead({solution.slopes, solution.offsets});
    ties += report.status == Status::kOptimal && !leads ? 1 : 0;
  }
};

struct RemedyCount {
  long uses = 0;
  Count with, without;  // of the problems that use it
};
RemedyCount remedy_counts[kRemedies];

Recovery all_but_switched_off() {
  Recovery recovery;
  const char* names = std::getenv("BREGMAX_OFF");
  for (const test::RemedyInfo& info : test::kRemedyInfo) {
    if (names != nullptr && fmt::format(",{},", names).find(fmt::format(",{},", info.name)) != std::string::npos) {
      recovery.switch_off(info.remedy);
    }
  }
  return recovery;
}

Solution solve_counted(const LearningProblem& problem, Recovery& recovery) {
  const ThreadLimit single(1);
  return internal::run_interior_point(problem, {}, {}, {}, recovery);
}

// What a remedy does not touch is the same without it, so only the problems that use it are solved again.
void count_remedies(const LearningProblem& problem, const Solution& solution, const Recovery& recovery) {
  for (const test::RemedyInfo& info : test::kRemedyInfo) {
    if (recovery.count(info.remedy) == 0) continue;
    RemedyCount& sum = remedy_counts[static_cast<std::size_t>(info.remedy)];
    sum.uses += recovery.count(info.remedy);
    sum.with.add(problem, solution);
    if (!kWithout) continue;
    Recovery other = all_but_switched_off();
    other.switch_off(info.remedy);
    sum.without.add(problem, solve_counted(problem, other));
  }
}

void count_problem(const LearningProblem& problem, const std::string& name, Count& sum) {
  Recovery recovery = all_but_switched_off();
  const Solution solution = solve_counted(problem, recovery);
  const SolveReport& report = solution.report;
  sum.add(problem, solution);
  count_remedies(problem, solution, recovery);
  if (report.status == Status::kOptimal && !kEach) return;
  fmt::print(
      "  {}: {}, objective {:.12g}, bound {:.12g}, gap {:.1e}, convexity violated by {:.1e}, {} iterations, L {:.1e}: "
      "{}\n",
      name, to_string(report.status), report.objective, report.lower_bound, report.relative_gap,
      report.convexity_violation, report.iterations, report.lipschitz, test::describe(problem));
}

void print_head() {
  fmt::print("{:<34}{:<13}{:>9}{:>9}{:>9}{:>6}{:>12}{:>7}{:>12}{:>9}{:>9}\n", "family", "kind", "problems", "unsolved",
             "partial", "ties", "iterations", "most", "lowest gap", "seconds", "most");
}

void print(const std::string& family, const std::string& kind, const Count& sum) {
  fmt::print("{:<34}{:<13}{:>9}{:>9}{:>9}{:>6}{:>12}{:>7}{:>12.1e}{:>9.2f}{:>9.2f}\n", family, kind, sum.problems,
             sum.unsolved, sum.partial, sum.ties, sum.iterations, sum.most_iterations, sum.lowest_gap, sum.seconds,
             sum.most_seconds);
  std::fflush(stdout);
}

int count_families(int seeds, const std::string& only, int first_seed) {
  int unsolved = 0;
  for (const test::Family& family : test::hard_families()) {
    if (only != "all" && only != family.name) continue;
    for (const test::Kind kind : test::kKinds) {
      Count sum;
      for (int seed = first_seed; seed < first_seed + seeds; ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        count_problem(family.make(random, kind), fmt::format("{} {} seed {}", family.name, to_string(kind), seed), sum);
      }
      if (family.always_solved) unsolved += sum.unsolved;
      print(family.name, to_string(kind), sum);
    }
  }
  return unsolved;
}

// `most_rows` random rows of each table, raw and standardised, from comparisons and from all pairs.
int count_tables(Index most_rows, const std::string& folder) {
  int unsolved = 0;
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".csv") paths.push_back(file.path().string());
  }
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    Table table = read_table(path);
    auto rows = Random(1).permutation(table.features.rows());
    rows.resize(static_cast<std::size_t>(std::min<Index>(most_rows, static_cast<Index>(rows.size()))));
    table = select_rows(table, rows);
    const std::string name = std::filesystem::path(path).stem().string();
    for (const bool standard : {true, false}) {
      const Matrix points = standard ? Scaling::standard(table.features).apply(table.features) : table.features;
      for (const bool pairs : {true, false}) {
        Count sum;
        for (const double lambda : {0.01, 1.0, 100.0}) {
          const auto& classes = table.labels->of_row;
          const LearningProblem problem = pairs
                                              ? test::make_problem(points, all_pairs(classes), lambda)
                                              : test::make_problem(points, sample_comparisons(classes, 500, 1), lambda);
          count_problem(problem, fmt::format("{} lambda {}", name, lambda), sum);
        }
        unsolved += sum.unsolved;
        print(name + (standard ? " standardised" : " raw"), pairs ? "pairs" : "comparisons", sum);
      }
    }
  }
  return unsolved;
}

void print_remedies() {
  fmt::print(
      "\n| remedy | problems | uses | unsolved with | without | partial | without | ties | without | iterations | "
      "without | seconds | without |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const test::RemedyInfo& info : test::kRemedyInfo) {
    const RemedyCount& sum = remedy_counts[static_cast<std::size_t>(info.remedy)];
    const Count &a = sum.with, &b = sum.without;
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2f} | {:.2f} |\n", info.name, a.problems,
               sum.uses, a.unsolved, b.unsolved, a.partial, b.partial, a.ties, b.ties, a.iterations, b.iterations,
               a.seconds, b.seconds);
  }
}

}  // namespace
}  // namespace bregmax

int main(int argc, char** argv) {
  using namespace bregmax;
  restart_with_better_blas_kernels(argv);
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::string only = argc > 2 ? argv[2] : "all";
  const int first_seed = argc > 3 ? std::atoi(argv[3]) : 0;
  print_head();
  const int unsolved = only.ends_with('/') ? count_tables(seeds, only) : count_families(seeds, only, first_seed);
  print_remedies();
  return unsolved == 0 ? 0 : 1;
}
