#include "methods/item_folds.hpp"

#include <algorithm>

#include "bregmax/core/random.hpp"
#include "core/checks.hpp"

namespace bregmax::internal {

std::vector<SplitItems> item_folds(const Supervision& supervision, int folds, std::uint64_t seed, int most) {
  constexpr std::uint64_t kItemStream = 3;
  const Index items = item_count(supervision);
  if (folds < 2 || folds > items) {
    fail("folds is {}; allowed: 2 to the number of items of the supervision, {}", folds, items);
  }
  std::vector<Index> order = Random(seed).fork(kItemStream).permutation(items);
  // Similar pairs alone give a constant divergence, so both kinds are spread evenly over the folds.
  const auto deal_similar_first = [&order](const auto& pairs) {
    std::stable_partition(order.begin(), order.end(), [&](Index t) { return pairs[t].similar; });
  };
  if (const auto* pairs = std::get_if<Pairs>(&supervision)) deal_similar_first(*pairs);
  if (const auto* pairs = std::get_if<LabelPairs>(&supervision)) deal_similar_first(*pairs);
  std::vector<int> fold_of(static_cast<std::size_t>(items));
  for (Index i = 0; i < items; ++i) fold_of[order[i]] = static_cast<int>(i % folds);
  std::vector<SplitItems> splits;
  splits.reserve(most);
  for (int fold = 0; fold < most; ++fold) {
    splits.push_back(std::visit(
        [&](const auto& list) -> SplitItems {
          std::vector<std::decay_t<decltype(list[0])>> train, held_out;
          for (std::size_t t = 0; t < list.size(); ++t) (fold_of[t] == fold ? held_out : train).push_back(list[t]);
          return {std::move(train), std::move(held_out)};
        },
        supervision));
  }
  return splits;
}

}  // namespace bregmax::internal
