#include "bregmax/data/split.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/checks.hpp"

namespace bregmax {

Split random_split(Index rows, double train_fraction, Random& random) {
  internal::require(rows >= 0, "split: the number of rows is {}; allowed: 0 or more", rows);
  internal::require(train_fraction >= 0 && train_fraction <= 1, "split: train_fraction is {}; allowed: 0 to 1",
                    train_fraction);
  auto train_rows = static_cast<Index>(std::llround(train_fraction * static_cast<double>(rows)));
  if (rows >= 2) train_rows = std::clamp<Index>(train_rows, 1, rows - 1);
  const std::vector<Index> order = random.permutation(rows);
  Split split{{order.begin(), order.begin() + train_rows}, {order.begin() + train_rows, order.end()}};
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.test.begin(), split.test.end());
  return split;
}

std::vector<Split> stratified_folds(const std::vector<int>& class_of_row, int folds, Random& random) {
  const auto rows = std::ssize(class_of_row);
  internal::require(folds >= 2 && folds <= rows, "folds is {}; allowed: 2 to the number of rows, {}", folds, rows);
  std::map<int, std::vector<Index>> rows_of_class;
  for (Index row = 0; row < rows; ++row) rows_of_class[class_of_row[row]].push_back(row);

  // Each class starts at the fold after the last row of the one before, so that fold sizes differ by at most one, too.
  std::vector<std::size_t> fold_of_row(rows);
  std::size_t next_fold = 0;
  for (auto& [class_number, members] : rows_of_class) {
    random.shuffle(members);
    for (const Index row : members) fold_of_row[row] = next_fold++ % folds;
  }
  std::vector<Split> splits(folds);
  for (std::size_t fold = 0; fold < splits.size(); ++fold) {
    auto& [train, test] = splits[fold];
    for (Index row = 0; row < rows; ++row) (fold_of_row[row] == fold ? test : train).push_back(row);
  }
  return splits;
}

}  // namespace bregmax
