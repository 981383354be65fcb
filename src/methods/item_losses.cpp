#include "methods/item_losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bregmax/divergence/embedding.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax::internal {

namespace {

// The divergences of the terms of some items.
class TermValues {
 public:
  TermValues(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items)
      : divergence_(&divergence), rows_(scaled_rows) {
    // A matrix of all divergences is cheaper than single ones if it is not much larger than what is asked of it.
    constexpr Index kEntriesPerItem = 64;
    if (rows_.rows() * rows_.rows() <= kEntriesPerItem * item_count(items)) {
      all_ = divergence.matrix(rows_, rows_);
    } else if (const auto* embedding = dynamic_cast<const EmbeddingDivergence*>(&divergence)) {
      embed_named_rows(*embedding, items);
    }
  }
  double operator()(const DivergenceTerm& term) const {
    if (!term.exists()) return 0;
    if (all_.size() > 0) return all_(term.point, term.reference);
    return divergence_->value(row(term.point), row(term.reference));
  }

 private:
  // All at once, which takes far less time than two for each term. There may be many more rows than are named.
  void embed_named_rows(const EmbeddingDivergence& embedding, const Supervision& items) {
    std::vector<Index> named;
    place_.assign(rows_.rows(), kNoEntry);
    for_each_item(items, [&](Index, const Item& item) {
      for (const Index row : {item.plus.point, item.plus.reference, item.minus.point, item.minus.reference}) {
        if (row == kNoEntry || place_[row] != kNoEntry) continue;
        place_[row] = std::ssize(named);
        named.push_back(row);
      }
    });
    embedded_ = embedding.embed(rows_(named, Eigen::all));
    divergence_ = &embedding.inner();
  }
  Eigen::Map<const Vector> row(Index number) const {
    if (place_.empty()) return {rows_.row(number).data(), rows_.cols()};
    return {embedded_.row(place_[number]).data(), embedded_.cols()};
  }

  const Divergence* divergence_;
  const MatrixView& rows_;
  Matrix all_;
  std::vector<Index> place_;  // of the rows of the items in embedded_; empty: the rows themselves
  Matrix embedded_;
};

struct WeightedValue {
  double value, weight;
};

// Sorts both lists and makes values equal that exceed the smallest of their group by at most the resolution.
void merge_ties(std::vector<WeightedValue>& first, std::vector<WeightedValue>& second, double resolution) {
  std::ranges::sort(first, {}, &WeightedValue::value);
  std::ranges::sort(second, {}, &WeightedValue::value);
  if (resolution == 0) return;
  double group = -std::numeric_limits<double>::infinity();
  const auto join = [&](double& value) {
    if (value > group + resolution) group = value;
    value = group;
  };
  for (auto a = first.begin(), b = second.begin(); a != first.end() || b != second.end();) {
    const bool from_first = b == second.end() || (a != first.end() && a->value <= b->value);
    join(from_first ? (a++)->value : (b++)->value);
  }
}

// The probability that a number of the first list is smaller than one of the second.
double share_smaller(std::vector<WeightedValue> first, std::vector<WeightedValue> second, double resolution) {
  merge_ties(first, second, resolution);
  double sum = 0, below = 0, total = 0, weight = 0;
  for (const auto& [value, of_value] : first) total += of_value;
  auto at = first.begin();
  for (auto one = second.begin(); one != second.end();) {
    double equal = 0;
    while (at != first.end() && at->value < one->value) below += (at++)->weight;
    for (auto tie = at; tie != first.end() && tie->value == one->value; ++tie) equal += tie->weight;
    for (const double value = one->value; one != second.end() && one->value == value; ++one) {
      sum += one->weight * (below + equal / 2);
      weight += one->weight;
    }
  }
  return sum / (total * weight);
}

}  // namespace

LossSum sum_losses(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items) {
  const TermValues value(divergence, scaled_rows, items);
  LossSum sum;
  for_each_item(items, [&](Index, const Item& item) {
    const double above = item.margin + value(item.plus) - value(item.minus) - item.value;
    sum.loss += item.weight * (item.squared ? above * above : std::max(0.0, above));
    sum.weight += item.weight;
  });
  return sum;
}

double mean_loss(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items) {
  const LossSum sum = sum_losses(divergence, scaled_rows, items);
  return sum.weight > 0 ? sum.loss / sum.weight : std::numeric_limits<double>::quiet_NaN();
}

double agreement(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items) {
  if (item_count(items) == 0 || std::holds_alternative<Targets>(items)) return std::numeric_limits<double>::quiet_NaN();
  const TermValues value(divergence, scaled_rows, items);
  std::vector<WeightedValue> similar, dissimilar;
  const double resolution = divergence.resolution();
  double held = 0, weight = 0;
  for_each_item(items, [&](Index, const Item& item) {
    const double plus = value(item.plus), minus = value(item.minus);
    if (!item.minus.exists()) {
      similar.push_back({plus, item.weight});
    } else if (!item.plus.exists()) {
      dissimilar.push_back({minus, item.weight});
    } else {
      held += item.weight * (std::abs(plus - minus) <= resolution ? 0.5 : plus < minus ? 1 : 0);
      weight += item.weight;
    }
  });
  return std::holds_alternative<Comparisons>(items)
             ? held / weight
             : share_smaller(std::move(similar), std::move(dissimilar), resolution);
}

LossSum zero_model_losses(const Supervision& items) {
  LossSum sum;
  for_each_item(items, [&](Index, const Item& item) {
    sum.loss += item.zero_loss();
    sum.weight += item.weight;
  });
  return sum;
}

}  // namespace bregmax::internal
