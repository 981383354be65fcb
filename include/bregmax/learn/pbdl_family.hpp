#pragma once

#include <memory>
#include <vector>

#include "bregmax/learn/fit.hpp"
#include "bregmax/learn/tune.hpp"
#include "bregmax/supervision/sample.hpp"

namespace bregmax {

// The candidates lambda x T of learned max-affine divergences, all else fixed. One pass over the lambda path a fold.
struct PbdlFamilyOptions {
  std::vector<double> lambdas;       // ascending, >= 0
  std::vector<double> temperatures;  // ascending, >= 0
  FitOptions fit;                    // scale, pieces, Lipschitz bound, iterations; the tolerance is that of the folds
  double proof_tolerance = 1e-3;     // >= fit.tolerance
  bool from_labels = true;           // or each fold has items of its own
  LabelSupervisionOptions supervision;
  double full_weight = 0;  // of the supervision on all rows, for which the lambdas are meant; > 0
};

// Larger lambdas first, then smaller temperatures: the simplest model among equals.
std::shared_ptr<const CandidateFamily> make_pbdl_family(PbdlFamilyOptions options);

}  // namespace bregmax
