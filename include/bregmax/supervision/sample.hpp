#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bregmax/core/supervision.hpp"

namespace bregmax {

// The paper's supervision: i != j from one class drawn by its frequency (classes with two rows or more), l from another
// class drawn by its frequency among the others; D(i, j) <= D(i, l). Drawn with replacement. A class with one row only
// ever supplies l. Throws Error when there is only one class, or no class with two rows.
Comparisons sample_comparisons(const std::vector<int>& class_of_row, Index count, std::uint64_t seed);

// The hard comparisons D(i, j) <= D(i, l): for every row i whose class has other rows, each of the `neighbours` nearest
// rows j of its class against each of the `neighbours` nearest rows l of other classes (all where there are fewer).
// Nearest by Euclidean distance, equal distances by the lower row number. count > 0: at most this many, a random subset
// in the order of the rows; 0: all. Throws Error as sample_comparisons() does.
Comparisons hard_comparisons(const MatrixView& rows, const std::vector<int>& class_of_row, Index neighbours,
                             Index count = 0, std::uint64_t seed = 0);

// `count` pairs i != j: half of them (rounded up) similar, of one class, the others dissimilar, of two. Each half is
// uniform over its pairs, drawn with replacement. Throws Error as sample_comparisons() does.
Pairs sample_pairs(const std::vector<int>& class_of_row, Index count, std::uint64_t seed);

// Targets D(i, j) = (t_i - t_j)^2 / (2 v) from a number t_i per row, with v their variance, so that the mean over
// random pairs is 1: `count` pairs i != j, drawn with replacement, or all ordered pairs where there are at most so
// many. Throws Error unless there are two rows or more, all numbers are finite, and two of them differ.
Targets squared_differences(const VectorView& numbers, Index count, std::uint64_t seed);

// For pairs without a direction: each pair followed by its reverse, with half of its weight each. The loss of a pair is
// then the mean of its losses in both directions, and all weights still have the same sum.
Pairs in_both_directions(const Pairs& pairs);
Supervision in_both_directions(Supervision supervision);  // anything but a list of pairs stays as it is

// All ordered pairs i != j: similar when the classes agree. Two rows or more; with one class all pairs are similar.
Pairs all_pairs(const std::vector<int>& class_of_row);
// The same, without a list of them.
LabelPairs label_pairs(const std::vector<int>& class_of_row);

// How supervision is made from labels.
enum class LabelSupervision { kComparisons, kHardComparisons, kAllPairs };
std::string to_string(LabelSupervision kind);  // "comparisons", "hard_comparisons", "all_pairs"

struct LabelSupervisionOptions {
  LabelSupervision kind = LabelSupervision::kComparisons;
  Index comparisons = 2000;  // >= 1; hard comparisons: at most this many, 0: all
  Index neighbours = 3;      // >= 1, of hard comparisons
  std::uint64_t seed = 0;
};

// `rows` are scaled as they will be learned on: hard comparisons measure on them.
Supervision supervision_from_labels(const MatrixView& rows, const std::vector<int>& class_of_row,
                                    const LabelSupervisionOptions& options);

}  // namespace bregmax
