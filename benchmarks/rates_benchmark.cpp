// The rates of the paper's theorems, measured: error against the number of pieces or of supervised items, with the
// fitted exponent next to that of the theorem (an upper bound: lower is better). One thread.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/theory/approximate.hpp"
#include "theory/learning_rates.hpp"

namespace bregmax {
namespace {

void report(benchmark::State& state, const std::vector<double>& sizes, const std::vector<double>& errors,
            double theory) {
  for (std::size_t i = 0; i < sizes.size(); ++i) state.counters[fmt::format("at_{:07.0f}", sizes[i])] = errors[i];
  state.counters["exponent"] = fitted_exponent(sizes, errors);
  state.counters["theorem"] = theory;
}

// Theorem 1. K up to 4096 in one and two dimensions, 32768 in three.
void approximation(benchmark::State& state, const char* generator, double ApproximationErrors::*error) {
  const ThreadLimit single(1);
  const auto divergence = make_closed_form(generator);
  ApproximationOptions options;
  options.pieces = state.range(0) == 3 ? 32768 : 4096;
  options.samples = 5000;
  Sweep sweep;
  for (auto _ : state) sweep = sweep_approximation(*divergence, default_box(*divergence, state.range(0)), options);
  std::vector<double> sizes, errors;
  for (std::size_t i = 0; i < sweep.steps.size(); ++i) {
    sizes.push_back(static_cast<double>(sweep.pieces[i]));
    errors.push_back(sweep.steps[i].measured.*error);
  }
  report(state, sizes, errors, sweep.theoretic_exponents.*error);
}

// Theorem 2: ramp loss on new comparisons less that on those learned from.
void generalisation(benchmark::State& state) {
  const ThreadLimit single(1);
  std::vector<double> sizes, gaps;
  for (auto _ : state) {
    for (const Index items : {50, 100, 200, 400, 800, 1600, 3200}) {
      sizes.push_back(static_cast<double>(items));
      gaps.push_back(testing::generalisation_gap(items, 20, 3, static_cast<int>(state.range(0))).gap);
    }
  }
  report(state, sizes, gaps, -0.5);
}

// Theorem 3: squared error on new pairs of new points, with the theorem's number of pieces.
void regression(benchmark::State& state, const char* generator) {
  const ThreadLimit single(1);
  const auto truth = make_closed_form(generator);
  std::vector<double> sizes, errors;
  for (auto _ : state) {
    const Index first = state.range(0) + 1, last = state.range(0) == 1 ? 4 : 4 + 2 * (state.range(0) - 1);
    for (Index pieces = first; pieces <= last; ++pieces) {
      const Index items = testing::items_for_pieces(pieces, state.range(0));
      sizes.push_back(static_cast<double>(items));
      errors.push_back(testing::regression_error(items, 10, state.range(0), *truth));
    }
  }
  report(state, sizes, errors, -1 / static_cast<double>(state.range(0) + 2));
}

BENCHMARK_CAPTURE(approximation, kl_value, "kl", &ApproximationErrors::value)
    ->ArgName("d")
    ->DenseRange(1, 3)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(approximation, kl_gradient, "kl", &ApproximationErrors::gradient)
    ->ArgName("d")
    ->DenseRange(1, 3)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(approximation, kl_divergence, "kl", &ApproximationErrors::divergence)
    ->ArgName("d")
    ->DenseRange(1, 3)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(approximation, itakura_saito_divergence, "itakura_saito", &ApproximationErrors::divergence)
    ->ArgName("d")
    ->DenseRange(1, 3)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK(generalisation)->ArgName("K")->Arg(6)->Arg(20)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(regression, squared_euclidean, "squared_euclidean")
    ->ArgName("d")
    ->DenseRange(1, 3)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(regression, itakura_saito, "itakura_saito")
    ->ArgName("d")
    ->DenseRange(1, 3)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace bregmax
