#pragma once

#include <cstdint>
#include <vector>

#include "bregmax/learn/plan.hpp"

namespace bregmax {

// Folds of the rows, stratified by class. The loss is that of 2000 comparisons drawn from the held-out rows (the
// paper's supervision; none where those have a single class). `pieces` and `weights`: of the rows, may be empty.
std::vector<Fold> folds_of_rows(const MatrixView& rows, const std::vector<int>& class_of_row, int folds,
                                std::uint64_t seed, const std::vector<int>& pieces = {},
                                const std::vector<double>& weights = {});

// Folds of given supervision: every fold learns on all rows, from the items that are not held out. If there are enough
// items, each fold holds out rows: all items that name one of them. Otherwise the items themselves are divided; similar
// and dissimilar pairs are then spread evenly over the folds. Of a table of more than `most_rows` rows (0: any number)
// the folds have only the rows that items name, and so many others, drawn at random, that there are `most_rows`.
std::vector<Fold> folds_of_items(const MatrixView& rows, const Supervision& supervision, int folds, std::uint64_t seed,
                                 const std::vector<int>& pieces = {}, Index most_rows = 0);

// The number of folds that labels allow: at most `folds`, and so few that each class of three rows or more has two rows
// in some fold; at least two. Throws Error without two classes, or without a class of three rows.
int usable_folds(const std::vector<int>& class_of_row, int folds);

// The folds of a plan. From labels there are `repeats` cross-validations, each with a different division into folds.
std::vector<Fold> folds_of(const Plan& plan, const TrainingData& data, const RunControl& control = {});

}  // namespace bregmax
