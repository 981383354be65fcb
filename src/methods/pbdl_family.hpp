#pragma once

#include "bregmax/methods/pbdl.hpp"

namespace bregmax::internal {

// A family per scale, number of pieces and supervision. The candidates of one are lambda x T, with one pass over the
// lambda path per fold. Larger lambdas come first, then smaller temperatures: the simplest model among equals.
CandidateFamilies pbdl_families(const FamilyOptions& options);

}  // namespace bregmax::internal
