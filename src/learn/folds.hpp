#pragma once

#include "bregmax/learn/tune.hpp"

namespace bregmax::internal {

struct FoldPlan {
  int folds = 3;
  int repeats = 1;  // >= 1
  std::uint64_t seed = 0;
};

// So many cross-validations, each with folds of its own (as many as usable_folds() allows).
std::vector<Fold> repeated_folds(const MatrixView& rows, const std::vector<int>& class_of_row, const FoldPlan& plan,
                                 const std::vector<int>& pieces = {});

}  // namespace bregmax::internal
