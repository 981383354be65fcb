#pragma once

#include <cstdint>
#include <vector>

#include "bregmax/core/supervision.hpp"

namespace bregmax {

// The paper's supervision: i != j from one class drawn by its frequency (classes with two rows or more), l from another
// class drawn by its frequency among the others; D(i, j) <= D(i, l).
Comparisons sample_comparisons(const std::vector<int>& class_of_row, Index count, std::uint64_t seed);

// All ordered pairs i != j: similar when the classes agree.
Pairs all_pairs(const std::vector<int>& class_of_row);

}  // namespace bregmax
