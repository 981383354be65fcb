#pragma once

#include "core/simd.hpp"

namespace bregmax::internal {

// out_i += sum_l v_l x_il for `group` rows of x.
template <Index group>
BREGMAX_INLINE void add_dots_of_group(const double* v, const double* x, Index stride, Index count, double* out) {
  Four even[group], odd[group];
  for (Index i = 0; i < group; ++i) even[i] = odd[i] = Four{};
  Index l = 0;
  for (; l + 2 * kLanes <= count; l += 2 * kLanes) {
    Four first, second, at;
    load(v + l, first);
    load(v + l + kLanes, second);
    BREGMAX_UNROLL
    for (Index i = 0; i < group; ++i) {
      load(x + i * stride + l, at);
      even[i] += first * at;
      load(x + i * stride + l + kLanes, at);
      odd[i] += second * at;
    }
  }
  for (Index i = 0; i < group; ++i) {
    double sum = total(even[i] + odd[i]);
    for (Index rest = l; rest < count; ++rest) sum += v[rest] * x[i * stride + rest];
    out[i] += sum;
  }
}

// Calls each<group>(first row) for groups of five rows, and for one group of the remaining rows.
template <class Each>
BREGMAX_INLINE void for_groups_of_rows(Index rows, const Each& each) {
  Index i = 0;
  for (; i + 5 <= rows; i += 5) each.template operator()<5>(i);
  if (rows - i == 4) return each.template operator()<4>(i);
  if (rows - i == 3) return each.template operator()<3>(i);
  if (rows - i == 2) return each.template operator()<2>(i);
  if (rows - i == 1) return each.template operator()<1>(i);
}

// out_i += sum_l v_l x_il for `rows` rows of x.
BREGMAX_INLINE void add_dots(const double* v, const double* x, Index stride, Index rows, Index count, double* out) {
  for_groups_of_rows(rows, [=]<Index group>(Index i) BREGMAX_INLINE_LAMBDA {
    add_dots_of_group<group>(v, x + i * stride, stride, count, out + i);
  });
}

}  // namespace bregmax::internal
