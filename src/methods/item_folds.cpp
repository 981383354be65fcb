#include "methods/item_folds.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "bregmax/core/random.hpp"
#include "core/checks.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax::internal {
namespace {

// holds_out(number, item): is the item held out?
template <class HoldsOut>
SplitItems split_items(const Supervision& supervision, const HoldsOut& holds_out) {
  return std::visit(
      [&](const auto& list) -> SplitItems {
        std::vector<std::decay_t<decltype(list[0])>> train, held_out;
        for (std::size_t t = 0; t < list.size(); ++t) (holds_out(t, list[t]) ? held_out : train).push_back(list[t]);
        return {std::move(train), std::move(held_out)};
      },
      supervision);
}

std::array<DivergenceTerm, 2> terms_of(const Item& item) { return {item.plus, item.minus}; }

bool is_of_one_kind(const Supervision& supervision) {
  const auto* pairs = std::get_if<Pairs>(&supervision);
  return pairs != nullptr &&
         std::ranges::all_of(*pairs, [&](const Pair& pair) { return pair.similar == pairs->front().similar; });
}

}  // namespace

bool come_in_both_directions(const Pairs& pairs) {
  if (pairs.size() % 2 != 0) return false;
  for (std::size_t t = 0; t < pairs.size(); t += 2) {
    const Pair &one = pairs[t], &other = pairs[t + 1];
    if (one.i != other.j || one.j != other.i || one.similar != other.similar || one.weight != other.weight) {
      return false;
    }
  }
  return true;
}

std::vector<SplitItems> item_folds(const Supervision& supervision, int folds, std::uint64_t seed, int most) {
  constexpr std::uint64_t kItemStream = 3;
  const Index items = item_count(supervision);
  if (folds < 2 || folds > items) {
    fail("folds is {}; allowed: 2 to the number of items of the supervision, {}", folds, items);
  }
  const auto* list = std::get_if<Pairs>(&supervision);
  const bool by_two = list != nullptr && items / 2 >= folds && come_in_both_directions(*list);
  const Index together = by_two ? 2 : 1;
  std::vector<Index> order = Random(seed).fork(kItemStream).permutation(items / together);
  // Similar pairs alone give a constant divergence, so both kinds are spread evenly over the folds.
  const auto deal_similar_first = [&order, together](const auto& pairs) {
    std::stable_partition(order.begin(), order.end(), [&](Index t) { return pairs[t * together].similar; });
  };
  if (list != nullptr) deal_similar_first(*list);
  if (const auto* pairs = std::get_if<LabelPairs>(&supervision)) deal_similar_first(*pairs);
  std::vector<int> fold_of(order.size());
  for (Index i = 0; i < std::ssize(order); ++i) fold_of[order[i]] = static_cast<int>(i % folds);
  std::vector<SplitItems> splits;
  splits.reserve(most);
  for (int fold = 0; fold < most; ++fold) {
    splits.push_back(split_items(supervision, [&](std::size_t number, const auto&) {
      return fold_of[number / static_cast<std::size_t>(together)] == fold;
    }));
  }
  return splits;
}

std::vector<SplitItems> row_folds(const Supervision& supervision, Index rows, int folds, std::uint64_t seed) {
  constexpr std::uint64_t kRowStream = 5;
  const std::vector<bool> is_named = named_rows(supervision, rows);
  std::vector<int> fold_of(static_cast<std::size_t>(rows), -1);
  int next = 0;
  for (const Index row : Random(seed).fork(kRowStream).permutation(rows)) {
    if (is_named[row]) fold_of[row] = next++ % folds;
  }
  std::vector<SplitItems> splits;
  for (int fold = 0; fold < folds; ++fold) {
    const auto holds_out = [&](const auto& one) {
      return std::ranges::any_of(terms_of(item_of(one)), [&](const DivergenceTerm& term) {
        return term.exists() && (fold_of[term.point] == fold || fold_of[term.reference] == fold);
      });
    };
    splits.push_back(split_items(supervision, [&](std::size_t, const auto& one) { return holds_out(one); }));
    for (const Supervision* part : {&splits.back().train, &splits.back().held_out}) {
      if (item_count(*part) < kLeastItems || is_of_one_kind(*part)) return {};
    }
  }
  return splits;
}

std::vector<bool> named_rows(const Supervision& supervision, Index rows) {
  std::vector<bool> is_named(static_cast<std::size_t>(rows), false);
  for_each_item(supervision, [&](Index, const Item& item) {
    for (const DivergenceTerm& term : terms_of(item)) {
      if (term.exists()) is_named[term.point] = is_named[term.reference] = true;
    }
  });
  return is_named;
}

std::vector<Index> rows_for_items(const Supervision& supervision, Index rows, Index most, std::uint64_t seed) {
  constexpr std::uint64_t kOtherRowsStream = 6;
  std::vector<bool> is_kept = named_rows(supervision, rows);
  Index kept = std::ranges::count(is_kept, true);
  for (const Index row : Random(seed).fork(kOtherRowsStream).permutation(rows)) {
    if (kept >= most) break;
    if (is_kept[row]) continue;
    is_kept[row] = true;
    ++kept;
  }
  std::vector<Index> numbers;
  numbers.reserve(kept);
  for (Index row = 0; row < rows; ++row) {
    if (is_kept[row]) numbers.push_back(row);
  }
  return numbers;
}

Supervision renumbered_items(Supervision supervision, const std::vector<Index>& kept) {
  const auto place = [&kept](Index& row) { row = std::ranges::lower_bound(kept, row) - kept.begin(); };
  std::visit(
      [&place](auto& items) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(items)>, LabelPairs>) {  // these name every row
          for (auto& item : items) {
            place(item.i);
            place(item.j);
            if constexpr (requires { item.k; }) {
              place(item.k);
              place(item.l);
            }
          }
        }
      },
      supervision);
  return supervision;
}

}  // namespace bregmax::internal
