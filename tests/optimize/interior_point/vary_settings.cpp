// How much each constant of the interior point method matters: solves the same problems with a smaller and with a
// larger value, and prints what changes.
//
//   vary_settings [SEEDS [NAME...]]   SEEDS of each hard family with features of one scale, and of each kind of
//                                     supervision; NAME: these constants only

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/data/scaling.hpp"
#include "bregmax/supervision/sample.hpp"
#include "optimize/hard_problems.hpp"
#include "optimize/interior_point/interior_point.hpp"
#include "optimize/proof/convex_repair.hpp"

namespace bregmax {
namespace {

using Settings = internal::InteriorPointSettings;

struct Constant {
  const char* name;
  double Settings::*real;
  int Settings::*integer;
  double smaller, larger;

  double value(const Settings& settings) const { return real != nullptr ? settings.*real : settings.*integer; }
  Settings with(double value) const {
    Settings settings;
    if (real != nullptr) settings.*real = value;
    if (integer != nullptr) settings.*integer = static_cast<int>(value);
    return settings;
  }
};

#define REAL(name, smaller, larger) \
  { #name, &Settings::name, nullptr, smaller, larger }
#define INTEGER(name, smaller, larger) \
  { #name, nullptr, &Settings::name, smaller, larger }
const Constant kConstants[] = {
    REAL(start_slopes, 0.3, 3),
    REAL(start_slopes_comparisons, 1, 10),
    REAL(start_product, 0.01, 1),
    REAL(start_lipschitz, 1.2, 5),
    REAL(start_in_bound, 0.5, 0.99),
    REAL(start_slack, 1e-5, 0.1),
    REAL(start_slack_of_mean, 1e-4, 0.3),
    REAL(start_hinge, 0.1, 2),
    REAL(low_divergence, 0.01, 1),
    REAL(free_bound_price, 1e-8, 1e-4),
    REAL(free_bound, 2, 20),
    REAL(free_bound_rest, 0.1, 0.9),
    REAL(free_bound_growth, 2, 20),
    REAL(free_bound_worth, 0.01, 1),
    REAL(primal_proximal, 1e-10, 1e-6),
    REAL(dual_proximal, 1e-10, 1e-6),
    REAL(coupled_dual_proximal, 1e-8, 1e-4),
    REAL(refinement_proximal, 1e-15, 1e-10),
    REAL(least_slope_hold, 1e-7, 1e-3),
    REAL(whole_step, 0.5, 0.99),
    REAL(unexplained, 0.1, 0.9),
    REAL(explained, 1, 10),
    REAL(residual_worth, 0.01, 1),
    REAL(relaxation, 0.01, 0.5),
    REAL(least_dual_scale, 1e-6, 1e-2),
    REAL(near_end, 1e-6, 1e-2),
    REAL(dual_scale_near_end, 1e-4, 0.1),
    REAL(dual_relaxation_near_end, 0.1, 0.7),
    REAL(centering_dual_scale, 1e-6, 1e-2),
    INTEGER(factor_attempts, 2, 12),
    REAL(factor_growth, 10, 1e4),
    INTEGER(strengthenings, 1, 8),
    REAL(primal_strengthening, 5, 300),
    REAL(dual_strengthening, 1, 30),
    REAL(most_dual_scale, 10, 1000),
    REAL(residual_part, 0.1, 0.9),
    REAL(flow_distance, 0.01, 1),
    REAL(price_reach, 2, 50),
    REAL(residual_harm, 0.01, 1),
    REAL(solve_accuracy, 1e-16, 1e-13),
    REAL(solve_accuracy_downdate, 1e-14, 1e-10),
    REAL(tolerated, 1e-11, 1e-7),
    REAL(tolerated_downdate, 1e-8, 1e-4),
    REAL(poor, 5, 200),
    REAL(harmful_growth, 1, 10),
    INTEGER(poor_in_a_row, 1, 10),
    REAL(to_boundary, 0.95, 0.999),
    REAL(most_sigma, 0.1, 0.9),
    REAL(least_sigma, 1e-8, 1e-4),
    INTEGER(correctors, 2, 12),
    REAL(long_step, 0.8, 0.99),
    REAL(worthwhile_growth, 0.002, 0.1),
    REAL(aim_growth, 1, 1.5),
    REAL(aim_more, 0.1, 0.6),
    REAL(low_product, 0.01, 0.3),
    REAL(high_product, 10, 1000),
    REAL(looks_optimal, 0.3, 1),
    REAL(least_product, 0.01, 0.5),
    INTEGER(relax_each, 1, 12),
    INTEGER(centering_steps, 2, 12),
    REAL(centering_gap, 0.03, 0.6),
    REAL(centering_least_gap, 1e-5, 0.1),
};
#undef REAL
#undef INTEGER

std::vector<LearningProblem> problems(int seeds) {
  std::vector<LearningProblem> all;
  for (const test::Family& family : test::hard_families()) {
    for (const test::Kind kind : test::kKinds) {
      for (int seed = 0; !family.mixed_scales && seed < seeds; ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        all.push_back(family.make(random, kind));
      }
    }
  }
  for (const BuiltinDataset& dataset : builtin_datasets()) {
    Table table = load_builtin(dataset.name);
    if (!table.labels) continue;
    auto rows = Random(1).permutation(table.features.rows());
    rows.resize(std::min<std::size_t>(rows.size(), 100));
    table = select_rows(table, rows);
    const Matrix points = Scaling::standard(table.features).apply(table.features);
    const std::vector<int>& classes = table.labels->of_row;
    for (const double lambda : {0.01, 1.0}) {
      all.push_back(test::make_problem(points, sample_comparisons(classes, 500, 1), lambda));
      all.push_back(test::make_problem(points, all_pairs(classes), lambda));
    }
  }
  return all;
}

struct Sum {
  int unsolved = 0;
  int partial = 0;  // there is a price or a bound, and the proof does not hold for every model
  int ties = 0;     // optimal, but at some row another piece than its own is the largest
  int iterations = 0;
  double seconds = 0;
  std::vector<std::array<double, 3>> digits;  // of each solution; the same if the constant does not matter at all

  void add(const LearningProblem& problem, const Solution& solution) {
    const SolveReport& report = solution.report;
    const bool solved = report.status == Status::kOptimal;
    const bool priced = problem.lambda > 0 || std::isfinite(problem.lipschitz_bound);
    unsolved += solved ? 0 : 1;
    partial += priced && certify(problem, solution).valid_up_to_lipschitz < problem.lipschitz_bound ? 1 : 0;
    ties += solved && !internal::ConvexRepair(problem).own_pieces_lead(solution.pieces()) ? 1 : 0;
    iterations += report.iterations;
    seconds += report.seconds;
    digits.push_back({report.objective, report.lower_bound, static_cast<double>(report.iterations)});
  }
};

Sum solve_all(const std::vector<LearningProblem>& all, const Settings& settings) {
  Sum sum;
  const ThreadLimit single(1);
  for (const LearningProblem& problem : all) {
    internal::Recovery recovery;
    sum.add(problem, internal::run_interior_point(problem, {}, {}, settings, recovery));
  }
  return sum;
}

std::string change(double value, const Sum& sum, const Sum& base) {
  if (sum.digits == base.digits) return fmt::format("{:g}: the same", value);
  std::string text =
      fmt::format("{:g}: {:+.1f}% iterations", value, 100.0 * (sum.iterations - base.iterations) / base.iterations);
  const auto append = [&](int difference, const char* what) {
    if (difference != 0) text += fmt::format(", {:+d} {}", difference, what);
  };
  append(sum.unsolved - base.unsolved, "unsolved");
  append(sum.partial - base.partial, "partial");
  append(sum.ties - base.ties, "ties");
  return text;
}

}  // namespace
}  // namespace bregmax

int main(int argc, char** argv) {
  using namespace bregmax;
  restart_with_better_blas_kernels(argv);
  const auto all = problems(argc > 1 ? std::atoi(argv[1]) : 20);
  const std::vector<std::string> only(argv + std::min(argc, 2), argv + argc);
  const Sum base = solve_all(all, {});
  fmt::print(
      "{} problems: {} unsolved, {} partial, {} with ties, {} iterations, {:.1f} s\n\n"
      "| constant | value | smaller | larger |\n|---|---|---|---|\n",
      all.size(), base.unsolved, base.partial, base.ties, base.iterations, base.seconds);
  for (const Constant& constant : kConstants) {
    if (!only.empty() && std::ranges::find(only, constant.name) == only.end()) continue;
    fmt::print("| `{}` | {:g} | {} | {} |\n", constant.name, constant.value({}),
               change(constant.smaller, solve_all(all, constant.with(constant.smaller)), base),
               change(constant.larger, solve_all(all, constant.with(constant.larger)), base));
    std::fflush(stdout);
  }
  return 0;
}
