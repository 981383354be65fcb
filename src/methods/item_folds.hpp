#pragma once

#include <cstdint>
#include <vector>

#include "bregmax/core/supervision.hpp"

namespace bregmax::internal {

struct SplitItems {
  Supervision train, held_out;
};

// The folds 0 .. most - 1 of a division of the items into `folds`, 2 .. items: each item is held out by one of them.
std::vector<SplitItems> item_folds(const Supervision& supervision, int folds, std::uint64_t seed, int most);

}  // namespace bregmax::internal
