// Small empirical checks of the rates in m; benchmarks/rates_benchmark.cpp has the larger ones.
#include <gtest/gtest.h>

#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/theory/approximate.hpp"
#include "theory/learning_rates.hpp"

namespace bregmax::testing {
namespace {

TEST(Rates, GeneralisationGapFallsAsTheRootOfTheComparisons) {
  std::vector<double> sizes, gaps;
  for (const Index items : {60, 240, 960}) {
    const GapResult result = generalisation_gap(items, 6, 2, 6);
    EXPECT_GT(result.worst_bound, 0) << "the bound is below the error on new comparisons";
    sizes.push_back(static_cast<double>(items));
    gaps.push_back(result.gap);
  }
  EXPECT_LE(fitted_exponent(sizes, gaps), -0.5 + 0.15);
}

TEST(Rates, RegressionErrorFallsAsTheoremThreeSays) {
  for (const Index features : {1, 2}) {
    std::vector<double> sizes, errors;
    for (const Index pieces : features == 1 ? std::vector<Index>{2, 3} : std::vector<Index>{3, 4, 6}) {
      const Index items = items_for_pieces(pieces, features);
      sizes.push_back(static_cast<double>(items));
      // Only for this divergence does farthest-point clustering give the cells of tangents.
      errors.push_back(regression_error(items, 8, features, *make_closed_form("squared_euclidean")));
    }
    // A few runs leave the exponent uncertain by some hundredths.
    EXPECT_LE(fitted_exponent(sizes, errors), -1.0 / static_cast<double>(features + 2) + 0.05) << features;
  }
}

}  // namespace
}  // namespace bregmax::testing
