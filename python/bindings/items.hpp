#pragma once

#include "arrays.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/core/supervision.hpp"

namespace bregmax::python {

// An entry of the options that the Python layer hands over; all of them are there.
template <class Value>
Value option(const nb::dict& options, const char* name) {
  return nb::cast<Value>(options[name]);
}

// Supervision from arrays. items: one row of row numbers an item.

inline void check_items(const RowNumbers& items, std::size_t members, std::size_t values, const Numbers& weights) {
  if (items.shape(1) != members || values != items.shape(0) || weights.shape(0) != items.shape(0)) {
    throw Error("items, what is said of them and their weights do not fit");
  }
}

inline Comparisons comparisons_of(const RowNumbers& items, const Numbers& weights) {
  check_items(items, 4, items.shape(0), weights);
  Comparisons list;
  for (std::size_t m = 0; m < items.shape(0); ++m) {
    list.push_back({items(m, 0), items(m, 1), items(m, 2), items(m, 3), weights(m)});
  }
  return list;
}

inline Pairs pairs_of(const RowNumbers& items, const Integers& similar, const Numbers& weights) {
  check_items(items, 2, similar.shape(0), weights);
  Pairs list;
  for (std::size_t m = 0; m < items.shape(0); ++m) {
    list.push_back({items(m, 0), items(m, 1), similar(m) != 0, weights(m)});
  }
  return list;
}

inline Targets targets_of(const RowNumbers& items, const Numbers& values, const Numbers& weights) {
  check_items(items, 2, values.shape(0), weights);
  Targets list;
  for (std::size_t m = 0; m < items.shape(0); ++m) {
    list.push_back({items(m, 0), items(m, 1), values(m), weights(m)});
  }
  return list;
}

}  // namespace bregmax::python
