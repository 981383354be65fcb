#pragma once

#include "bregmax/theory/box.hpp"

namespace bregmax::internal {

// Finite centre, finite radius > 0.
void check_box(const Box& box);

}  // namespace bregmax::internal
