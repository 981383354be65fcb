#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/theory/bounds.hpp"
#include "options/input.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// What `bregmax bounds` was asked.
struct BoundsRequest {
  std::string model, data;
  std::string comparisons_file, targets_file, held_out_file, test;
  std::uint64_t fresh = 10000;
  double delta = 0.05, noise = 0;
  bool noise_given = false;
  std::optional<double> beta;
  Layout layout;
  bool json = false;
};

struct HeldOut {
  std::string source;
  Index items;
  double error;  // comparisons: the fraction violated; targets: the mean squared error
};

struct ComparisonReport {
  BoundInputs inputs;
  bool drawn_again = false;  // the comparisons come from the labels
  bool hard = false;         // they are the hard ones
  ComparisonLosses losses;
  double loss_of_fit = 0;   // summed hinge loss in the model's record
  bool same_as_fit = true;  // these comparisons have that loss
  double rademacher = 0;
  BoundTerms stated, proved;
  std::vector<HeldOut> held_out;
};

struct RegressionReport {
  BoundInputs inputs;
  bool lipschitz_was_fixed = false;
  double noise = 0, rademacher = 0, residual = 0;
  BoundTerms generalisation;
  std::optional<BoundTerms> approximation;
  Index suggested_pieces = 0;
  std::vector<HeldOut> held_out;
};

// As text, or as JSON where that was asked for.
void print_report(const BoundsRequest& request, const ComparisonReport& report);
void print_report(const BoundsRequest& request, const RegressionReport& report);

}  // namespace bregmax::app
