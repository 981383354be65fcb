#pragma once

#include <algorithm>
#include <vector>

#include "optimize/problem/at.hpp"
#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

// D(point, reference); kNoEntry: there is none.
struct Divergent {
  Index point = kNoEntry, reference = kNoEntry;
  bool exists() const { return point != kNoEntry; }
};

// Any item of the supervision. Hinge: weight max(0, margin + D(plus) - D(minus)); a comparison has both, a similar pair
// only `plus` with margin 0, a dissimilar one only `minus` with margin 2. Squared: weight (D(plus) - value)^2.
struct Item {
  Divergent plus, minus;
  double weight, margin = 0, value = 0;
  bool squared = false;

  double zero_loss() const { return squared ? weight * value * value : weight * margin; }
};
inline Item item_of(const Comparison& c) { return {{c.i, c.j}, {c.k, c.l}, c.weight, 1}; }
inline Item item_of(const Pair& p) {
  return p.similar ? Item{{p.i, p.j}, {}, p.weight} : Item{{}, {p.i, p.j}, p.weight, 2};
}
inline Item item_of(const Target& t) { return {{t.i, t.j}, {}, t.weight, 0, t.value, true}; }

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

// Finds the losses of the items as losses of entries of the divergence grid, in canonical units.
//
// entry_of(point, reference): the entry, or kNoEntry where D is 0 by construction. The sink has
//   Index add_linear(entry, weight), add_quadratic(entry, weight, value), add_hinge(plus, minus, margin, weight)
// with plus perhaps kNoEntry; each returns the index of the item's place. Losses that no model can change are added to
// `constant`, in the caller's units.
template <class EntryOf, class Sink>
std::vector<ItemPlace> place_items(const Supervision& supervision, const CanonicalProblem& units,
                                   const EntryOf& entry_of, Sink& sink, double& constant) {
  using Kind = ItemPlace::Kind;
  const auto entry = [&](const Divergent& d) { return d.exists() ? entry_of(d.point, d.reference) : kNoEntry; };
  const auto place_of = [&](const Item& item) -> ItemPlace {
    const Index plus = entry(item.plus), minus = entry(item.minus);
    if (item.squared && plus != kNoEntry) {
      const double weight = item.weight * units.value_unit * units.value_unit / units.objective_unit;
      return {Kind::kQuadratic, sink.add_quadratic(plus, weight, item.value / units.value_unit)};
    }
    const double weight = item.weight * units.value_unit / units.objective_unit;
    if (item.weight > 0 && minus != kNoEntry && plus != minus) {
      const Kind kind = plus != kNoEntry ? Kind::kCoupledHinge : Kind::kSingleHinge;
      return {kind, sink.add_hinge(plus, minus, item.margin / units.value_unit, weight)};
    }
    constant += item.zero_loss();
    if (item.weight == 0 || plus == minus || plus == kNoEntry) return {Kind::kConstant, kNoEntry};
    return {Kind::kLinear, sink.add_linear(plus, weight)};
  };
  std::vector<ItemPlace> places;
  places.reserve(at(item_count(supervision)));
  for_each_item(supervision, [&](Index, const Item& item) { places.push_back(place_of(item)); });
  return places;
}

// The dual variable of each item. fraction(place): of a hinge's weight; divergence(place): of a target's entry, in the
// caller's units.
template <class Fraction, class Divergence>
Vector item_multipliers(const Supervision& supervision, const std::vector<ItemPlace>& places, const Fraction& fraction,
                        const Divergence& divergence) {
  using Kind = ItemPlace::Kind;
  Vector multipliers(static_cast<Index>(places.size()));
  for_each_item(supervision, [&](Index t, const Item& item) {
    const ItemPlace& place = places[at(t)];
    const bool hinge = place.kind == Kind::kCoupledHinge || place.kind == Kind::kSingleHinge;
    if (item.squared) {
      multipliers(t) = 2 * item.weight * ((place.kind == Kind::kQuadratic ? divergence(place) : 0) - item.value);
    } else {
      multipliers(t) = item.weight * (hinge ? std::clamp(fraction(place), 0.0, 1.0) : 1.0);
    }
  });
  return multipliers;
}

}  // namespace bregmax::internal
