// Compares the subgradient method of Wu et al. with the optimum of their problem: standardised iris, 500 pairs, the
// inner products as they are, C = 1. Prints, for both kernels and several steps, how often it changes between taking
// all pairs for similar and all for dissimilar, the best objective that it sees, and the sum of the weights there.

#include <fmt/format.h>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/data/scaling.hpp"
#include "bregmax/supervision/sample.hpp"
#include "methods/wu2009.hpp"

namespace {

using bregmax::internal::Wu2009Result;

constexpr int kIterations = 1000;

// From nearly all similar to nearly all dissimilar, or back, in one step.
int changes_of(const std::vector<double>& similar_fractions) {
  constexpr double kNearlyAll = 0.95;
  int changes = 0;
  for (std::size_t t = 1; t < similar_fractions.size(); ++t) {
    const double before = similar_fractions[t - 1], after = similar_fractions[t];
    if (std::max(before, after) > kNearlyAll && std::min(before, after) < 1 - kNearlyAll) ++changes;
  }
  return changes;
}

void print_runs(const bregmax::Matrix& rows, const bregmax::Pairs& pairs, bool square) {
  bregmax::MethodChoices choices;
  choices.parameters = {{"kernel", square ? 0 : 1}, {"algorithm", 0}, {"c", 1}, {"scale", 1}, {"step", 1}};
  choices.limits = bregmax::method_named("wu2009").limits;
  const Wu2009Result exact = bregmax::internal::learn_wu2009(rows, pairs, choices);
  choices.parameters["algorithm"] = 1;
  choices.limits.max_iterations = kIterations;
  for (const double step : {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    choices.parameters["step"] = step;
    const Wu2009Result metric = bregmax::internal::learn_wu2009(rows, pairs, choices);
    double similar = 0;
    for (const double fraction : metric.similar_fractions) similar += fraction;
    fmt::print("{:<12} {:>6g} {:>8} {:>8.3f} {:>10.1f} {:>12.3g} {:>10.1f}\n", square ? "square" : "exponential", step,
               changes_of(metric.similar_fractions), similar / static_cast<double>(metric.similar_fractions.size()),
               metric.learned.report.objective, metric.weights.sum(), exact.learned.report.objective);
  }
}

}  // namespace

int main(int, char** values) {
  bregmax::restart_with_better_blas_kernels(values);
  const bregmax::ThreadLimit single(1);
  const bregmax::Table iris = bregmax::load_builtin("iris");
  const bregmax::Matrix rows = bregmax::Scaling::standard(iris.features).apply(iris.features);
  const bregmax::Pairs pairs = bregmax::sample_pairs(iris.labels->of_row, 500, 1);
  fmt::print("{:<12} {:>6} {:>8} {:>8} {:>10} {:>12} {:>10}\n", "kernel", "step", "changes", "similar", "best",
             "its weights", "optimum");
  for (const bool square : {true, false}) print_runs(rows, pairs, square);
}
