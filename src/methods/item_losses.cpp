#include "methods/item_losses.hpp"

#include <algorithm>
#include <limits>

#include "optimize/problem/items.hpp"

namespace bregmax::internal {

LossSum sum_losses(const Divergence& divergence, const MatrixView& scaled_rows, const Supervision& items) {
  // A matrix of all divergences is cheaper than single ones as long as it is not much larger than what is asked of it.
  constexpr Index kEntriesPerItem = 64;
  Matrix all;
  if (scaled_rows.rows() * scaled_rows.rows() <= kEntriesPerItem * item_count(items)) {
    all = divergence.matrix(scaled_rows, scaled_rows);
  }
  const auto value = [&](const DivergenceTerm& pair) {
    if (!pair.exists()) return 0.0;
    if (all.size() > 0) return all(pair.point, pair.reference);
    return divergence.value(scaled_rows.row(pair.point).transpose(), scaled_rows.row(pair.reference).transpose());
  };
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

LossSum zero_model_losses(const Supervision& items) {
  LossSum sum;
  for_each_item(items, [&](Index, const Item& item) {
    sum.loss += item.zero_loss();
    sum.weight += item.weight;
  });
  return sum;
}

}  // namespace bregmax::internal
