#pragma once

#include <cstdint>

#include "bregmax/core/supervision.hpp"

namespace bregmax::internal {

struct SplitItems {
  Supervision train, held_out;
};

// Holds out one item of every `parts`, the first fold of folds_of_items(); 2 .. the number of items.
SplitItems hold_out_items(const Supervision& supervision, int parts, std::uint64_t seed);

}  // namespace bregmax::internal
