#pragma once

#include "bregmax/methods/registry.hpp"

namespace bregmax::internal {

// Every combination of scale and tried values is a candidate that is learned by itself; all are one family.
CandidateFamilies grid_family(const FamilyOptions& options);

}  // namespace bregmax::internal
