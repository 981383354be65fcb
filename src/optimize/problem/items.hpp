#pragma once

#include "core/checkpoint_file.hpp"
#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

// D(point, reference); kNoEntry: the item has no such term.
struct DivergenceTerm {
  Index point = kNoEntry, reference = kNoEntry;
  bool exists() const { return point != kNoEntry; }
};

// Any item of the supervision. Hinge: weight max(0, margin + D(plus) - D(minus)); a comparison has both, a similar pair
// only `plus` with margin 0, a dissimilar one only `minus` with margin 2. Squared: weight (D(plus) - value)^2.
struct Item {
  DivergenceTerm plus, minus;
  double weight, margin = 0, value = 0;
  bool squared = false;

  double zero_loss() const { return squared ? weight * value * value : weight * margin; }
};
inline Item item_of(const Comparison& c) { return {{c.i, c.j}, {c.k, c.l}, c.weight, 1}; }
inline Item item_of(const Pair& p) {
  return p.similar ? Item{{p.i, p.j}, {}, p.weight} : Item{{}, {p.i, p.j}, p.weight, 2};
}
inline Item item_of(const Target& t) { return {{t.i, t.j}, {}, t.weight, 0, t.value, true}; }

inline void add_to(Checksum& sum, const Item& item) {
  sum.add(item.plus.point, item.plus.reference, item.minus.point, item.minus.reference, item.weight, item.value,
          item.squared);
}

// Throw Error that names the first item with a row, a weight or a value that is not allowed, or if there are no items.
void check_items(const Comparisons& comparisons, Index rows);
void check_items(const Pairs& pairs, Index rows);
void check_items(const Targets& targets, Index rows);

// Calls each(number, item) for all items in their order.
template <class Each>
void for_each_item(const Supervision& supervision, const Each& each) {
  std::visit(
      [&](const auto& items) {
        Index number = 0;
        for (const auto& item : items) each(number++, item_of(item));
      },
      supervision);
}

}  // namespace bregmax::internal
