#pragma once

#include <vector>

#include "bregmax/core/random.hpp"

namespace bregmax {

struct Split {
  std::vector<Index> train, test;  // row numbers, ascending
};

// A random part of round(train_fraction * rows) rows, at least 1 on each side when there are 2 rows or more.
Split random_split(Index rows, double train_fraction, Random& random);

// Each row is a test row of one fold; the classes are spread over the folds as evenly as they can be.
std::vector<Split> stratified_folds(const std::vector<int>& class_of_row, int folds, Random& random);

}  // namespace bregmax
