#include "optimize/feature_products.hpp"

#include <algorithm>

#include "core/dots.hpp"
#include "core/simd.hpp"

namespace bregmax::internal {
namespace {

constexpr Index kGroup = 4;  // vectors of locations at once: enough to hide latencies

template <Index group>
BREGMAX_INLINE void affine_group(const FeatureRows& x, const double* slope, double shift, const double* base, Index l,
                                 double* out) {
  Four value[group];
  BREGMAX_UNROLL
  for (Index g = 0; g < group; ++g) {
    value[g] = Four{};
    if (base != nullptr) load(base + l + g * kLanes, value[g]);
    value[g] -= shift;
  }
  const double* feature = x.data + l;
  for (Index f = 0; f < x.features; ++f, feature += x.stride) {
    const Four factor = Four{} + slope[f];
    BREGMAX_UNROLL
    for (Index g = 0; g < group; ++g) {
      Four at;
      load(feature + g * kLanes, at);
      value[g] -= factor * at;
    }
  }
  BREGMAX_UNROLL
  for (Index g = 0; g < group; ++g) store(value[g], out + l + g * kLanes);
}

BREGMAX_INLINE void affine_body(const FeatureRows& x, const double* slope, double shift, const double* base,
                                double* out) {
  Index l = 0;
  for (; l + 2 * kGroup * kLanes <= x.count; l += 2 * kGroup * kLanes) {
    affine_group<2 * kGroup>(x, slope, shift, base, l, out);
  }
  for (; l + 2 * kLanes <= x.count; l += 2 * kLanes) affine_group<2>(x, slope, shift, base, l, out);
  for (; l + kLanes <= x.count; l += kLanes) affine_group<1>(x, slope, shift, base, l, out);
  for (; l < x.count; ++l) {
    double value = (base != nullptr ? base[l] : 0) - shift;
    for (Index f = 0; f < x.features; ++f) value -= slope[f] * x.data[f * x.stride + l];
    out[l] = value;
  }
}

BREGMAX_INLINE double weigh_body(const FeatureRows& x, const double* v, double* out) {
  add_dots(v, x.data, x.stride, x.features, x.count, out);
  Four sum{};
  Index l = 0;
  for (; l + kLanes <= x.count; l += kLanes) {
    Four at;
    load(v + l, at);
    sum += at;
  }
  double all = total(sum);
  for (; l < x.count; ++l) all += v[l];
  return all;
}

template <class V>
BREGMAX_INLINE void weigh_difference(const double* x, double anchor, const double* weight, Index l, double* difference,
                                     double* weighted) {
  V at, weight_here;
  load(x + l, at);
  load(weight + l, weight_here);
  const V here = anchor - at;
  store(here, difference + l);
  store(weight_here * here, weighted + l);
}

BREGMAX_INLINE void differences_body(const FeatureRows& x, const double* anchor, const double* weight,
                                     const OutputRows& difference, const OutputRows& weighted) {
  for (Index f = 0; f < x.features; ++f) {
    const double* row = x.data + f * x.stride;
    double *difference_row = difference.data + f * difference.stride,
           *weighted_row = weighted.data + f * weighted.stride;
    Index l = 0;
    for (; l + kLanes <= x.count; l += kLanes) {
      weigh_difference<Four>(row, anchor[f], weight, l, difference_row, weighted_row);
    }
    for (; l < x.count; ++l) weigh_difference<double>(row, anchor[f], weight, l, difference_row, weighted_row);
  }
}

BREGMAX_INLINE void multiply_body(const FeatureRows& left, const FeatureRows& x, double* square) {
  for (Index i = 0; i < left.features; ++i) {
    double* row = square + i * left.features;
    std::fill(row, row + i + 1, 0.0);
    add_dots(left.data + i * left.stride, x.data, x.stride, i + 1, left.count, row);
  }
}

BREGMAX_INLINE void solve_body(const double* lower, Index features, Index count, double* rows) {
  for (Index i = 0; i < features; ++i) {
    const double* factor = lower + i * features;
    const double inverse = 1 / factor[i];
    double* row = rows + i * count;
    Index l = 0;
    for (; l + kGroup * kLanes <= count; l += kGroup * kLanes) {
      Four value[kGroup];
      BREGMAX_UNROLL
      for (Index g = 0; g < kGroup; ++g) load(row + l + g * kLanes, value[g]);
      for (Index j = 0; j < i; ++j) {
        const Four known = Four{} + factor[j];
        BREGMAX_UNROLL
        for (Index g = 0; g < kGroup; ++g) {
          Four at;
          load(rows + j * count + l + g * kLanes, at);
          value[g] -= known * at;
        }
      }
      BREGMAX_UNROLL
      for (Index g = 0; g < kGroup; ++g) store(value[g] * inverse, row + l + g * kLanes);
    }
    for (; l < count; ++l) {
      double value = row[l];
      for (Index j = 0; j < i; ++j) value -= factor[j] * rows[j * count + l];
      row[l] = value * inverse;
    }
  }
}

#ifdef BREGMAX_AVX2
BREGMAX_AVX2 void affine_avx2(const FeatureRows& x, const double* slope, double shift, const double* base,
                              double* out) {
  affine_body(x, slope, shift, base, out);
}
BREGMAX_AVX2 double weigh_avx2(const FeatureRows& x, const double* v, double* out) { return weigh_body(x, v, out); }
BREGMAX_AVX2 void differences_avx2(const FeatureRows& x, const double* anchor, const double* weight,
                                   const OutputRows& difference, const OutputRows& weighted) {
  differences_body(x, anchor, weight, difference, weighted);
}
BREGMAX_AVX2 void multiply_avx2(const FeatureRows& left, const FeatureRows& x, double* square) {
  multiply_body(left, x, square);
}
BREGMAX_AVX2 void solve_avx2(const double* lower, Index features, Index count, double* rows) {
  solve_body(lower, features, count, rows);
}
#endif

}  // namespace

void portable_affine_row(const FeatureRows& x, const double* slope, double shift, const double* base, double* out) {
  affine_body(x, slope, shift, base, out);
}
double portable_weigh_row(const FeatureRows& x, const double* v, double* out) { return weigh_body(x, v, out); }
void portable_weigh_differences(const FeatureRows& x, const double* anchor, const double* weight,
                                const OutputRows& difference, const OutputRows& weighted) {
  differences_body(x, anchor, weight, difference, weighted);
}
void portable_multiply_rows(const FeatureRows& left, const FeatureRows& x, double* square) {
  multiply_body(left, x, square);
}
void portable_solve_rows(const double* lower, Index features, Index count, double* rows) {
  solve_body(lower, features, count, rows);
}

void affine_row(const FeatureRows& x, const double* slope, double shift, const double* base, double* out) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return affine_avx2(x, slope, shift, base, out);
#endif
  portable_affine_row(x, slope, shift, base, out);
}

double weigh_row(const FeatureRows& x, const double* v, double* out) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return weigh_avx2(x, v, out);
#endif
  return portable_weigh_row(x, v, out);
}

void weigh_differences(const FeatureRows& x, const double* anchor, const double* weight, const OutputRows& difference,
                       const OutputRows& weighted) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return differences_avx2(x, anchor, weight, difference, weighted);
#endif
  portable_weigh_differences(x, anchor, weight, difference, weighted);
}

void multiply_rows(const FeatureRows& left, const FeatureRows& x, double* square) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return multiply_avx2(left, x, square);
#endif
  portable_multiply_rows(left, x, square);
}

void solve_rows(const double* lower, Index features, Index count, double* rows) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return solve_avx2(lower, features, count, rows);
#endif
  portable_solve_rows(lower, features, count, rows);
}

}  // namespace bregmax::internal
