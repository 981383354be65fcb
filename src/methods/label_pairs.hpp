#pragma once

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// The pairs that were given, or `count` pairs drawn from the labels (0: 20 c^2 for c classes, as Davis et al. do).
Pairs pairs_of(const MethodSupervision& supervision, Index count, std::uint64_t seed);

}  // namespace bregmax::internal
