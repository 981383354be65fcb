#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/theory/bounds.hpp"
#include "options/options.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

inline constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();

// What `bregmax bounds` was asked.
struct BoundsRequest : ModelRequest {
  std::string data;
  std::string comparisons_file, targets_file, held_out_file, test;
  std::uint64_t fresh = 10000;
  double delta = 0.05, noise = kNotGiven, beta = kNotGiven;
};

struct HeldOut {
  std::string source;
  Index items;
  double error;  // comparisons: the fraction violated; targets: the mean squared error
};

struct BoundsReport {
  BoundInputs inputs;
  BoundTerms bound;    // of Theorem 2 as stated, or of Theorem 3
  double trivial = 1;  // no error is larger: a bound that is not below it says nothing
  std::vector<HeldOut> held_out;
};

struct ComparisonReport : BoundsReport {
  bool drawn_again = false;  // the comparisons come from the labels
  bool hard = false;         // they are hard comparisons
  ComparisonLosses losses;
  double loss_of_fit = 0;   // summed hinge loss in the model's record
  bool same_as_fit = true;  // these comparisons have that loss
  BoundTerms proved;        // with the constants of the proof
};

struct RegressionReport : BoundsReport {
  bool lipschitz_was_fixed = false;
  double noise = 0, residual = 0;
  std::optional<BoundTerms> approximation;
  Index suggested_pieces = 0;
};

void print_bounds(const BoundsRequest& request, const ComparisonReport& report);
void print_bounds(const BoundsRequest& request, const RegressionReport& report);

}  // namespace bregmax::app
