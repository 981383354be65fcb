#include "learn/repeated_folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/learn/run.hpp"

namespace bregmax {

int usable_folds(const std::vector<int>& class_of_row, int folds) {
  if (folds < 2) throw Error(fmt::format("folds is {}; allowed: 2 or more", folds));
  std::map<int, int> sizes;
  for (const int class_number : class_of_row) ++sizes[class_number];
  int smallest = 0;  // among the classes that can leave two rows in a fold of two
  for (const auto& [class_number, size] : sizes) {
    if (size >= 3 && (smallest == 0 || size < smallest)) smallest = size;
  }
  if (sizes.size() < 2 || smallest == 0) {
    throw Error(
        fmt::format("cross-validation needs two classes or more and a class of three rows or more; found {} classes in "
                    "{} rows",
                    sizes.size(), class_of_row.size()));
  }
  // A class of s rows leaves ceil(s / folds) in some fold.
  return std::clamp((smallest + 1) / 2, 2, folds);
}

std::vector<Fold> internal::repeated_folds(const MatrixView& rows, const std::vector<int>& class_of_row,
                                           const FoldPlan& plan, const std::vector<int>& pieces) {
  if (plan.repeats < 1) throw Error(fmt::format("repeats is {}; allowed: 1 or more", plan.repeats));
  const int folds = usable_folds(class_of_row, plan.folds);
  const Random random(plan.seed);
  std::vector<Fold> all;
  for (int repeat = 0; repeat < plan.repeats; ++repeat) {
    const std::uint64_t seed = repeat == 0 ? plan.seed : random.fork(static_cast<std::uint64_t>(repeat)).next_bits();
    for (Fold& fold : folds_of_rows(rows, class_of_row, folds, seed, pieces)) all.push_back(std::move(fold));
  }
  return all;
}

}  // namespace bregmax
