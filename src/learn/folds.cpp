#include "learn/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/learn/run.hpp"
#include "bregmax/supervision/sample.hpp"
#include "methods/item_folds.hpp"

namespace bregmax {
namespace {

constexpr Index kLossComparisons = 2000;
constexpr std::uint64_t kFoldStream = 1, kLossStream = 2;

std::vector<int> pick(const std::vector<int>& values, const std::vector<Index>& rows) {
  std::vector<int> picked;
  picked.reserve(rows.size());
  for (const Index row : rows) picked.push_back(values[static_cast<std::size_t>(row)]);
  return picked;
}

// A fold may lack some of the pieces: those that are left get the numbers from 0 in their order.
std::vector<int> renumbered(const std::vector<int>& pieces) {
  std::map<int, int> number;
  for (const int piece : pieces) number.emplace(piece, 0);
  int next = 0;
  for (auto& [piece, given] : number) given = next++;
  std::vector<int> result;
  result.reserve(pieces.size());
  for (const int piece : pieces) result.push_back(number.at(piece));
  return result;
}

void check_sizes(Index rows, std::size_t classes, std::size_t pieces) {
  if (static_cast<Index>(classes) != rows) {
    throw Error(fmt::format("there are {} classes for {} rows; allowed: one a row", classes, rows));
  }
  if (pieces != 0 && static_cast<Index>(pieces) != rows) {
    throw Error(fmt::format("piece_of has {} entries for {} rows", pieces, rows));
  }
}

// Comparisons among the held-out rows, where their classes allow any.
Supervision loss_comparisons(const std::vector<int>& classes, std::uint64_t seed) {
  std::map<int, int> sizes;
  for (const int class_number : classes) ++sizes[class_number];
  const bool company = std::any_of(sizes.begin(), sizes.end(), [](const auto& entry) { return entry.second > 1; });
  if (sizes.size() < 2 || !company) return Comparisons{};
  return sample_comparisons(classes, kLossComparisons, seed);
}

}  // namespace

std::vector<Fold> folds_of_rows(const MatrixView& rows, const std::vector<int>& class_of_row, int folds,
                                std::uint64_t seed, const std::vector<int>& pieces) {
  check_sizes(rows.rows(), class_of_row.size(), pieces.size());
  Random random = Random(seed).fork(kFoldStream);
  const std::vector<std::vector<Index>> held_out = stratified_folds(class_of_row, folds, random);
  std::vector<Fold> result;
  for (std::size_t f = 0; f < held_out.size(); ++f) {
    std::vector<bool> out(static_cast<std::size_t>(rows.rows()), false);
    for (const Index row : held_out[f]) out[static_cast<std::size_t>(row)] = true;
    std::vector<Index> train;
    for (Index row = 0; row < rows.rows(); ++row) {
      if (!out[static_cast<std::size_t>(row)]) train.push_back(row);
    }
    Fold fold;
    fold.seed = Random(seed).fork(kLossStream).fork(f).next_bits();
    fold.train_rows = rows(train, Eigen::all);
    fold.train_classes = pick(class_of_row, train);
    if (!pieces.empty()) fold.train_pieces = renumbered(pick(pieces, train));
    fold.held_out_rows = rows(held_out[f], Eigen::all);
    fold.held_out_classes = pick(class_of_row, held_out[f]);
    fold.loss_rows = fold.held_out_rows;
    fold.loss_items = loss_comparisons(fold.held_out_classes, fold.seed);
    result.push_back(std::move(fold));
  }
  return result;
}

std::vector<Fold> folds_of_items(const MatrixView& rows, const Supervision& supervision, int folds, std::uint64_t seed,
                                 const std::vector<int>& pieces) {
  const std::vector<int> fold_of = internal::fold_of_items(supervision, folds, seed);
  std::vector<Fold> result;
  for (int f = 0; f < folds; ++f) {
    Fold fold;
    fold.seed = seed;
    fold.train_rows = rows;
    fold.loss_rows = rows;
    fold.train_pieces = pieces;
    internal::SplitItems items = internal::split_items(supervision, fold_of, f);
    fold.train_items = std::move(items.train);
    fold.loss_items = std::move(items.held_out);
    result.push_back(std::move(fold));
  }
  return result;
}

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
