#pragma once

#include <cstdint>
#include <vector>

#include "bregmax/core/supervision.hpp"

namespace bregmax::internal {

struct SplitItems {
  Supervision train, held_out;
};

// Are these pairs as in_both_directions() makes them?
bool come_in_both_directions(const Pairs& pairs);

// The folds 0 .. most - 1 of a division of the items into `folds`, 2 .. items: each item is held out by one of them.
// Pairs in both directions stay together: one direction says what the other is.
std::vector<SplitItems> item_folds(const Supervision& supervision, int folds, std::uint64_t seed, int most);

// Folds of the rows that items name: what names no row of the fold is learned from, the rest is held out. Models are
// applied to new things, so this is what their scores should say. Empty where there are too few items: where some fold
// would have fewer than kLeastItems of either, or pairs of one kind only.
inline constexpr Index kLeastItems = 10;
std::vector<SplitItems> row_folds(const Supervision& supervision, Index rows, int folds, std::uint64_t seed);

// Of each row: does an item name it?
std::vector<bool> named_rows(const Supervision& supervision, Index rows);
// The rows that items name and as many others, drawn at random, as make `most` rows in all. In their order.
std::vector<Index> rows_for_items(const Supervision& supervision, Index rows, Index most, std::uint64_t seed);
// The items for a table of these rows, which must have all that the items name. `kept` ascends.
Supervision renumbered_items(Supervision supervision, const std::vector<Index>& kept);

}  // namespace bregmax::internal
