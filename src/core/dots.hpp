#pragma once

#include "core/simd.hpp"

namespace bregmax::internal {

// out_i += sum_l v_l x_il of `group` rows of x.
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

// The same of `rows` rows.
BREGMAX_INLINE void add_dots(const double* v, const double* x, Index stride, Index rows, Index count, double* out) {
  Index i = 0;
  for (; i + 5 <= rows; i += 5) add_dots_of_group<5>(v, x + i * stride, stride, count, out + i);
  switch (rows - i) {
    case 4:
      return add_dots_of_group<4>(v, x + i * stride, stride, count, out + i);
    case 3:
      return add_dots_of_group<3>(v, x + i * stride, stride, count, out + i);
    case 2:
      return add_dots_of_group<2>(v, x + i * stride, stride, count, out + i);
    case 1:
      return add_dots_of_group<1>(v, x + i * stride, stride, count, out + i);
    default:
      return;
  }
}

}  // namespace bregmax::internal
