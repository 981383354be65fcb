#pragma once

#include <cstdint>
#include <vector>

#include "bregmax/core/supervision.hpp"

namespace bregmax::internal {

struct SplitItems {
  Supervision train, held_out;
};

// The fold that holds out each item; 2 .. items folds.
std::vector<int> fold_of_items(const Supervision& supervision, int folds, std::uint64_t seed);
SplitItems split_items(const Supervision& supervision, const std::vector<int>& fold_of, int fold);

// Holds out one item of every `parts`: fold 0 of fold_of_items(). parts: 2 .. the number of items.
SplitItems hold_out_items(const Supervision& supervision, int parts, std::uint64_t seed);

}  // namespace bregmax::internal
