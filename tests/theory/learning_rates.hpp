#pragma once

// Learning on synthetic supervision drawn independently, as the theorems assume; used by the tests (small) and the
// benchmarks (larger).

#include "bregmax/core/random.hpp"
#include "bregmax/methods/pbdl.hpp"
#include "bregmax/theory/bounds.hpp"

namespace bregmax::testing {

inline Matrix unit_cube(Random& random, Index rows, Index features) {
  Matrix out(rows, features);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < features; ++j) out(i, j) = 2 * random.uniform() - 1;
  }
  return out;
}

// Comparisons of a fixed set of rows by the squared Euclidean distance, one in ten of them wrong.
inline Comparisons noisy_comparisons(const Matrix& rows, Index count, Random& random) {
  constexpr double kWrong = 0.1;
  Comparisons comparisons;
  while (static_cast<Index>(comparisons.size()) < count) {
    Comparison each{random.uniform_index(rows.rows()), random.uniform_index(rows.rows()),
                    random.uniform_index(rows.rows()), random.uniform_index(rows.rows())};
    const double first = (rows.row(each.i) - rows.row(each.j)).squaredNorm();
    const double second = (rows.row(each.k) - rows.row(each.l)).squaredNorm();
    if ((first > second) != (random.uniform() < kWrong)) {
      std::swap(each.i, each.k);
      std::swap(each.j, each.l);
    }
    comparisons.push_back(each);
  }
  return comparisons;
}

struct GapResult {
  double gap = 0;          // mean over the runs of the ramp loss on new comparisons less that on those learned from
  double worst_bound = 0;  // smallest of Theorem 2's bounds less the error on new comparisons, over the runs
};

inline GapResult generalisation_gap(Index items, int runs, Index features, int pieces) {
  GapResult result{0, std::numeric_limits<double>::infinity()};
  for (int run = 0; run < runs; ++run) {
    Random random = Random(static_cast<std::uint64_t>(items)).fork(static_cast<std::uint64_t>(run));
    const Matrix rows = unit_cube(random, 40, features);
    const Comparisons train = noisy_comparisons(rows, items, random);
    const Comparisons fresh = noisy_comparisons(rows, 20000, random);
    PbdlOptions options;
    options.lambda = 0;
    options.lipschitz_bound = 8;
    options.pieces = pieces;
    options.scale = Scale::kNone;
    options.tolerance = 1e-6;
    const MethodFit fitted = fit_pbdl(rows, train, options);
    const ComparisonLosses seen = comparison_losses(*fitted.model.divergence, rows, train);
    const ComparisonLosses unseen = comparison_losses(*fitted.model.divergence, rows, fresh);
    result.gap += (unseen.ramp - seen.ramp) / runs;
    const BoundInputs inputs{pieces, fitted.report.lipschitz, 1, features, items};
    result.worst_bound = std::min(result.worst_bound, comparison_bound(inputs, seen.ramp).total() - unseen.error);
  }
  return result;
}

// The largest m for which Theorem 3 says `pieces`. Between such m the error only waits for the next piece, and a fitted
// exponent would depend on where the steps fall.
inline Index items_for_pieces(Index pieces, Index features) {
  const double d = static_cast<double>(features);
  return static_cast<Index>(std::floor(std::pow(static_cast<double>(pieces), (4 + 2 * d) / d) + 1e-6));
}

// Mean squared error, on new pairs of new points, of a divergence learned from noisy values of the true divergence of
// independent pairs in [0.5, 2.5]^d, with the number of pieces of Theorem 3.
inline double regression_error(Index items, int runs, Index features, const Divergence& truth) {
  constexpr double kLargestNoise = 0.05;
  const auto draw = [&](Random& random, Index rows) {
    return Matrix((unit_cube(random, rows, features).array() + 1.5).matrix());
  };
  double error = 0;
  for (int run = 0; run < runs; ++run) {
    Random random = Random(static_cast<std::uint64_t>(items) + 7).fork(static_cast<std::uint64_t>(run));
    const Matrix rows = draw(random, 2 * items);
    Targets targets;
    for (Index t = 0; t < items; ++t) {
      const double noise = kLargestNoise * (2 * random.uniform() - 1);
      targets.push_back({2 * t, 2 * t + 1, truth.value(rows.row(2 * t), rows.row(2 * t + 1)) + noise});
    }
    PbdlOptions options;
    options.lambda = 0;
    options.lipschitz_bound = 10;
    options.pieces = static_cast<int>(regression_pieces(items, features));
    options.scale = Scale::kNone;
    options.tolerance = 1e-6;
    const MethodFit fitted = fit_pbdl(rows, targets, options);
    const Matrix points = draw(random, 4000), references = draw(random, 4000);
    error += (fitted.model.divergence->rowwise(points, references) - truth.rowwise(points, references)).squaredNorm() /
             4000 / runs;
  }
  return error;
}

}  // namespace bregmax::testing
