#pragma once

#include <cstdint>
#include <vector>

#include "bregmax/core/supervision.hpp"

namespace bregmax {

// The paper's supervision: i != j from one class drawn by its frequency (classes with two rows or more), l from another
// class drawn by its frequency among the others; D(i, j) <= D(i, l). Drawn with replacement. A class with one row only
// ever supplies l. Throws Error when there is only one class, or no class with two rows.
Comparisons sample_comparisons(const std::vector<int>& class_of_row, Index count, std::uint64_t seed);

// Similar pairs i != j of one class and dissimilar pairs of two, `count` in all: half of them similar (rounded up),
// each half uniform over its pairs, drawn with replacement. Throws Error when there is only one class, or no class with
// two rows.
Pairs sample_pairs(const std::vector<int>& class_of_row, Index count, std::uint64_t seed);

// All ordered pairs i != j: similar when the classes agree. Two rows or more; with one class all pairs are similar.
Pairs all_pairs(const std::vector<int>& class_of_row);

}  // namespace bregmax
