#include "bregmax/learn/folds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "bregmax/core/random.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/data/table.hpp"
#include "bregmax/supervision/sample.hpp"
#include "core/checks.hpp"
#include "methods/item_folds.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {
namespace {

using internal::require;

constexpr Index kLossComparisons = 2000;
constexpr std::uint64_t kFoldStream = 1, kLossStream = 2, kSampleStream = 4;

// A fold may lack some of the pieces: the others are renumbered from 0, in order.
std::vector<int> renumbered(std::vector<int> pieces) {
  std::map<int, int> number;
  for (const int piece : pieces) number.emplace(piece, 0);
  int next = 0;
  for (auto& [piece, given] : number) given = next++;
  for (int& piece : pieces) piece = number.at(piece);
  return pieces;
}

void check_sizes(Index rows, Index classes, Index pieces) {
  require(classes == rows, "there are {} classes for {} rows; allowed: one per row", classes, rows);
  require(pieces == 0 || pieces == rows, "piece_of has {} entries for {} rows", pieces, rows);
}

std::map<int, int> class_sizes(const std::vector<int>& class_of_row) {
  std::map<int, int> sizes;
  for (const int class_number : class_of_row) ++sizes[class_number];
  return sizes;
}

// Folds of rows with a number each. What a fold learns from, and what its loss is of, is drawn from its own rows.
std::vector<Fold> folds_of_row_targets(const MatrixView& rows, const Vector& targets, const Plan& plan,
                                       std::uint64_t seed, const std::vector<int>& pieces) {
  Random random = Random(seed).fork(kFoldStream);
  std::vector<Fold> result;
  for (const auto& [train, held_out] : stratified_folds(std::vector<int>(targets.size()), plan.folds, random)) {
    Fold fold;
    fold.seed = Random(seed).fork(kLossStream).fork(result.size()).next_bits();
    fold.train_rows = Matrix(rows(train, Eigen::all));
    fold.train_targets = targets(train);
    if (!pieces.empty()) fold.train_pieces = renumbered(select_rows(pieces, train));
    const double share = static_cast<double>(train.size()) / static_cast<double>(targets.size());
    const auto pairs = static_cast<Index>(std::ceil(share * static_cast<double>(plan.target_pairs)));
    fold.train_items = squared_differences(fold.train_targets, pairs, fold.seed);
    fold.held_out_rows = rows(held_out, Eigen::all);
    fold.held_out_targets = targets(held_out);
    fold.loss_rows = fold.held_out_rows;
    const bool differ = fold.held_out_targets.minCoeff() < fold.held_out_targets.maxCoeff();
    fold.loss_items = differ ? squared_differences(fold.held_out_targets, kLossComparisons, fold.seed) : Targets();
    result.push_back(std::move(fold));
  }
  return result;
}

// Comparisons among the held-out rows, where their classes allow any.
Supervision loss_comparisons(const std::vector<int>& classes, std::uint64_t seed) {
  const std::size_t count = class_sizes(classes).size();
  if (count < 2 || count == classes.size()) return Comparisons{};
  return sample_comparisons(classes, kLossComparisons, seed);
}

}  // namespace

std::vector<Fold> folds_of_rows(const MatrixView& rows, const std::vector<int>& class_of_row, int folds,
                                std::uint64_t seed, const std::vector<int>& pieces,
                                const std::vector<double>& weights) {
  check_sizes(rows.rows(), class_of_row.size(), pieces.size());
  Random random = Random(seed).fork(kFoldStream);
  std::vector<Fold> result;
  for (const auto& [train, held_out] : stratified_folds(class_of_row, folds, random)) {
    Fold fold;
    fold.seed = Random(seed).fork(kLossStream).fork(result.size()).next_bits();
    fold.train_rows = Matrix(rows(train, Eigen::all));
    fold.train_classes = select_rows(class_of_row, train);
    if (!pieces.empty()) fold.train_pieces = renumbered(select_rows(pieces, train));
    fold.train_weights = internal::select_weights(weights, train);
    fold.held_out_rows = rows(held_out, Eigen::all);
    fold.held_out_classes = select_rows(class_of_row, held_out);
    fold.loss_rows = fold.held_out_rows;
    fold.loss_items = loss_comparisons(fold.held_out_classes, fold.seed);
    result.push_back(std::move(fold));
  }
  return result;
}

std::vector<Fold> folds_of_items(const MatrixView& rows, const Supervision& supervision, int folds, std::uint64_t seed,
                                 const std::vector<int>& pieces, Index most_rows) {
  std::vector<Fold> result;
  std::vector<internal::SplitItems> splits = internal::row_folds(supervision, rows.rows(), folds, seed);
  if (splits.empty()) splits = internal::item_folds(supervision, folds, seed, folds);
  const bool all = most_rows == 0 || rows.rows() <= most_rows;
  std::vector<Index> kept;
  if (!all) kept = internal::rows_for_items(supervision, rows.rows(), most_rows, seed);
  const SharedRows shared = all ? Matrix(rows) : Matrix(rows(kept, Eigen::all));
  for (auto& [train, held_out] : splits) {
    Fold fold;
    fold.seed = Random(seed).fork(kLossStream).fork(result.size()).next_bits();
    fold.train_rows = fold.loss_rows = shared;
    fold.train_pieces = all || pieces.empty() ? pieces : renumbered(select_rows(pieces, kept));
    fold.train_items = all ? std::move(train) : internal::renumbered_items(std::move(train), kept);
    fold.loss_items = all ? std::move(held_out) : internal::renumbered_items(std::move(held_out), kept);
    result.push_back(std::move(fold));
  }
  return result;
}

int usable_folds(const std::vector<int>& class_of_row, int folds) {
  internal::check_at_least(folds, 2, "folds");
  const std::map<int, int> sizes = class_sizes(class_of_row);
  int smallest = 0;  // among the classes that can leave two rows in a fold of two
  for (const auto& [class_number, size] : sizes) {
    if (size >= 3 && (smallest == 0 || size < smallest)) smallest = size;
  }
  require(sizes.size() >= 2 && smallest > 0,
          "cross-validation needs two classes or more and a class of three rows or more; found {} classes in {} rows",
          sizes.size(), class_of_row.size());
  // A class of s rows leaves ceil(s / folds) in some fold.
  return std::clamp((smallest + 1) / 2, 2, folds);
}

std::vector<Fold> folds_of(const Plan& plan, const TrainingData& data, const RunControl& control) {
  const std::vector<int> given_pieces = plan.main().settings.piece_of.value_or(std::vector<int>{});
  const std::uint64_t seed = plan.seed;
  if (!data.labelled() && !data.has_row_targets()) {
    if (plan.tuning_rows > 0) {
      control.log(
          fmt::format("choosing on the rows that items name, and on others drawn at random, up to {} of the {} rows",
                      plan.tuning_rows, data.rows.rows()));
    }
    std::vector<Fold> folds =
        folds_of_items(data.rows, items_of(data.supervision), plan.folds, seed, given_pieces, plan.tuning_rows);
    for (Fold& fold : folds) {
      if (!plan.both_directions) break;
      fold.train_items = in_both_directions(std::move(*fold.train_items));
      fold.loss_items = in_both_directions(std::move(fold.loss_items));
    }
    return folds;
  }
  if (data.labelled()) {
    check_sizes(data.rows.rows(), std::ssize(std::get<ClassOfRow>(data.supervision)), std::ssize(given_pieces));
  }
  internal::check_at_least(plan.repeats, 1, "repeats");
  internal::check_range(plan.tuning_rows, 0, data.rows.rows(), "tuning_rows", "the number of rows; 0: all of them");
  std::vector<Index> chosen(data.rows.rows());
  std::iota(chosen.begin(), chosen.end(), 0);
  if (plan.tuning_rows > 0) {
    control.log(fmt::format("choosing on {} of the {} rows, drawn at random", plan.tuning_rows, data.rows.rows()));
    chosen = Random(seed).fork(kSampleStream).permutation(data.rows.rows());
    chosen.resize(plan.tuning_rows);
    std::ranges::sort(chosen);
  }
  const Matrix rows = data.rows(chosen, Eigen::all);
  const std::vector<int> pieces = given_pieces.empty() ? given_pieces : select_rows(given_pieces, chosen);
  const std::vector<double> weights = internal::select_weights(data.row_weights, chosen);
  const Vector targets = data.has_row_targets() ? Vector(data.row_targets(chosen)) : Vector();
  const std::vector<int> classes =
      data.labelled() ? select_rows(std::get<ClassOfRow>(data.supervision), chosen) : std::vector<int>();
  const int folds = data.labelled() ? usable_folds(classes, plan.folds) : plan.folds;
  std::vector<Fold> all;
  for (int repeat = 0; repeat < plan.repeats; ++repeat) {
    const std::uint64_t fold_seed = repeat == 0 ? seed : Random(seed).fork(repeat).next_bits();
    std::vector<Fold> made = data.labelled() ? folds_of_rows(rows, classes, folds, fold_seed, pieces, weights)
                                             : folds_of_row_targets(rows, targets, plan, fold_seed, pieces);
    std::ranges::move(made, std::back_inserter(all));
  }
  return all;
}

}  // namespace bregmax
