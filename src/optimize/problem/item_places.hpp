#pragma once

#include <algorithm>
#include <vector>

#include "optimize/problem/at.hpp"
#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

// What the losses of the supervision are in terms of entries of the divergence grid, in canonical units.
//
// entry_of(point, reference): the entry, or kNoEntry where D is 0 by construction. The sink has
//   Index add_linear(entry, weight), add_quadratic(entry, weight, value), add_hinge(plus, minus, margin, weight)
// with plus perhaps kNoEntry; what they return is the index of the item's place. A constant that no model can change
// goes to `constant`, in the caller's units.
template <class EntryOf, class Sink>
class ItemSorter {
 public:
  ItemSorter(const CanonicalProblem& units, const EntryOf& entry_of, Sink& sink, double& constant)
      : units_(units), entry_of_(entry_of), sink_(sink), constant_(constant) {}

  std::vector<ItemPlace> operator()(const Comparisons& items) {
    return sorted(items, [&](const Comparison& item) -> ItemPlace {
      const Index plus = entry_of_(item.i, item.j), minus = entry_of_(item.k, item.l);
      if (item.weight == 0) return linear(kNoEntry, 0);
      if (minus != kNoEntry && plus != minus) return hinge(plus, minus, 1, item.weight);
      constant_ += item.weight;
      return linear(plus == minus ? kNoEntry : plus, item.weight);
    });
  }

  std::vector<ItemPlace> operator()(const Pairs& items) { return sorted_pairs(items); }
  std::vector<ItemPlace> operator()(const LabelPairs& items) { return sorted_pairs(items); }

  std::vector<ItemPlace> operator()(const Targets& items) {
    return sorted(items, [&](const Target& item) -> ItemPlace {
      const Index e = entry_of_(item.i, item.j);
      if (e == kNoEntry) {
        constant_ += item.weight * item.value * item.value;
        return {ItemPlace::Kind::kConstant, e};
      }
      const double weight = item.weight * units_.value_unit * units_.value_unit / units_.objective_unit;
      return {ItemPlace::Kind::kQuadratic, sink_.add_quadratic(e, weight, item.value / units_.value_unit)};
    });
  }

 private:
  template <class PairList>
  std::vector<ItemPlace> sorted_pairs(const PairList& items) {
    return sorted(items, [&](const Pair& item) -> ItemPlace {
      const Index e = entry_of_(item.i, item.j);
      if (item.weight == 0) return linear(kNoEntry, 0);
      if (item.similar) return linear(e, item.weight);
      if (e != kNoEntry) return hinge(kNoEntry, e, 2, item.weight);
      constant_ += 2 * item.weight;
      return linear(kNoEntry, 0);
    });
  }

  template <class Items, class Place>
  static std::vector<ItemPlace> sorted(const Items& items, const Place& place) {
    std::vector<ItemPlace> places;
    places.reserve(items.size());
    for (const auto& item : items) places.push_back(place(item));
    return places;
  }
  ItemPlace linear(Index e, double weight) {
    if (e == kNoEntry) return {ItemPlace::Kind::kConstant, e};
    return {ItemPlace::Kind::kLinear, sink_.add_linear(e, weight * units_.value_unit / units_.objective_unit)};
  }
  ItemPlace hinge(Index plus, Index minus, double margin, double weight) {
    const auto kind = plus != kNoEntry ? ItemPlace::Kind::kCoupledHinge : ItemPlace::Kind::kSingleHinge;
    return {kind, sink_.add_hinge(plus, minus, margin / units_.value_unit,
                                  weight * units_.value_unit / units_.objective_unit)};
  }

  const CanonicalProblem& units_;
  const EntryOf& entry_of_;
  Sink& sink_;
  double& constant_;
};

// The multiplier of each item. fraction(place): of a hinge, of its weight; divergence(place): of a target's entry, in
// the caller's units.
template <class Fraction, class Divergence>
Vector item_multipliers(const Supervision& supervision, const std::vector<ItemPlace>& places, const Fraction& fraction,
                        const Divergence& divergence) {
  using Kind = ItemPlace::Kind;
  Vector multipliers(static_cast<Index>(places.size()));
  const auto set = [&](const auto& items, const auto& multiplier) {
    std::size_t t = 0;
    for (const auto& item : items) {
      multipliers(static_cast<Index>(t)) = multiplier(item, places[t]);
      ++t;
    }
  };
  const auto of_hinge = [&](const auto& item, const ItemPlace& place) {
    const bool hinge = place.kind == Kind::kCoupledHinge || place.kind == Kind::kSingleHinge;
    return item.weight * (hinge ? std::clamp(fraction(place), 0.0, 1.0) : 1.0);
  };
  if (const auto* comparisons = std::get_if<Comparisons>(&supervision)) {
    set(*comparisons, of_hinge);
  } else if (const auto* pairs = std::get_if<Pairs>(&supervision)) {
    set(*pairs, of_hinge);
  } else if (const auto* label_pairs = std::get_if<LabelPairs>(&supervision)) {
    set(*label_pairs, of_hinge);
  } else {
    set(std::get<Targets>(supervision), [&](const Target& item, const ItemPlace& place) {
      const double d = place.kind == Kind::kQuadratic ? divergence(place) : 0;
      return 2 * item.weight * (d - item.value);
    });
  }
  return multipliers;
}

}  // namespace bregmax::internal
