#pragma once

#include "arrays.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/methods/learned.hpp"

namespace bregmax::python {

// Supervision from a dictionary of arrays; see fit(). Items have one row of row numbers each.
inline MethodSupervision supervision_of(const nb::dict& given) {
  if (given.contains("classes")) return copy(nb::cast<Integers>(given["classes"]));
  const char* kind = given.contains("comparisons") ? "comparisons" : given.contains("pairs") ? "pairs" : "targets";
  const auto items = nb::cast<RowNumbers>(given[kind]);
  const auto weights = nb::cast<Numbers>(given["weights"]);
  const auto check = [&](std::size_t members, std::size_t values) {
    if (items.shape(1) != members || values != items.shape(0) || weights.shape(0) != items.shape(0)) {
      throw Error("items, what is said of them and their weights do not fit");
    }
  };
  const std::size_t count = items.shape(0);
  if (given.contains("comparisons")) {
    check(4, count);
    Comparisons list;
    for (std::size_t m = 0; m < count; ++m) {
      list.push_back({items(m, 0), items(m, 1), items(m, 2), items(m, 3), weights(m)});
    }
    return list;
  }
  if (given.contains("pairs")) {
    const auto similar = nb::cast<Integers>(given["similar"]);
    check(2, similar.shape(0));
    Pairs list;
    for (std::size_t m = 0; m < count; ++m) list.push_back({items(m, 0), items(m, 1), similar(m) != 0, weights(m)});
    return list;
  }
  const auto values = nb::cast<Numbers>(given["values"]);
  check(2, values.shape(0));
  Targets list;
  for (std::size_t m = 0; m < count; ++m) list.push_back({items(m, 0), items(m, 1), values(m), weights(m)});
  return list;
}

}  // namespace bregmax::python
