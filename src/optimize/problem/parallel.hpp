#pragma once

#include <array>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

inline constexpr Index kLeastParallel = 20'000;  // steps of a loop; for fewer, threads cost more than they save

// Calls each(i) for i = 0 .. count - 1, on several threads.
template <class Each>
void for_all(Index count, const Each& each) {
#pragma omp parallel for schedule(static) if (count > kLeastParallel)
  for (Index i = 0; i < count; ++i) each(i);
}

// Calls add(sum, i) for i = 0 .. count - 1 with a fixed number of partial sums: threads do not change the total.
template <class Sum, class Add>
Sum sum_in_parts(Index count, const Add& add) {
  constexpr Index kParts = 64;
  std::array<Sum, kParts> parts{};
#pragma omp parallel for schedule(static) if (count > kLeastParallel)
  for (Index part = 0; part < kParts; ++part) {
    for (Index i = count * part / kParts; i < count * (part + 1) / kParts; ++i) {
      add(parts[part], i);
    }
  }
  Sum sum{};
  for (const Sum& part : parts) sum.add(part);
  return sum;
}

}  // namespace bregmax::internal
