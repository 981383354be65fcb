#include "methods/pair_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/simd.hpp"

// The loops are written twice, for any processor and for those with AVX2, and chosen at run time.
#ifdef BREGMAX_AVX2
#include <immintrin.h>
#endif

namespace bregmax::internal {
namespace {

constexpr double kSmallestExponent = -kNegligibleExponent;

double exponential(double x) { return x > kSmallestExponent ? std::exp(x) : 0.0; }

}  // namespace

double portable_products_to_distances(const double* heights, Index count, double* out) {
  double lowest = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < count; ++j) {
    out[j] = heights[j] - 2 * out[j];
    lowest = std::min(lowest, out[j]);
  }
  return lowest;
}

double portable_exponentials(double offset, Index count, double* values) {
  double sum = 0;
  for (Index j = 0; j < count; ++j) {
    values[j] = exponential(offset - values[j]);
    sum += values[j];
  }
  return sum;
}

Index portable_count_near(const double* distances, double limit, Index count) {
  Index found = 0;
  for (Index j = 0; j < count; ++j) found += distances[j] < limit ? 1 : 0;
  return found;
}

Index portable_collect_near(const double* distances, double limit, Index begin, Index end, int* index, double* near) {
  Index found = 0;
  for (Index j = begin; j < end; ++j) {
    index[found] = static_cast<int>(j);
    near[found] = distances[j];
    found += distances[j] < limit ? 1 : 0;
  }
  return found;
}

void portable_pair_distances(const double* rows, Index stride, Index row, const int* index, Index count, double* out) {
  for (Index k = 0; k < count; ++k) {
    out[k] = 0;
    for (Index c = 0; c < stride; ++c) {
      const double difference = rows[row * stride + c] - rows[index[k] * stride + c];
      out[k] += difference * difference;
    }
  }
}

void portable_spread_differences(const double* rows, Index stride, Index row, const int* index, const double* weights,
                                 Index count, double* out) {
  for (Index k = 0; k < count; ++k) {
    for (Index c = 0; c < stride; ++c) {
      const double pull = weights[k] * (rows[row * stride + c] - rows[index[k] * stride + c]);
      out[row * stride + c] += pull;
      out[index[k] * stride + c] -= pull;
    }
  }
}

#ifdef BREGMAX_AVX2
namespace {

// exp of four numbers <= 0. x = n ln 2 + r with |r| <= ln 2 / 2; the Taylor polynomial of degree 13 is exact to
// rounding there; n goes into the exponent.
BREGMAX_AVX2 inline __m256d exponential(__m256d x) {
  static constexpr double kTaylor[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1,           1};
  const __m256d smallest = _mm256_set1_pd(kSmallestExponent);
  const __m256d round = _mm256_set1_pd(6755399441055744.0);  // 1.5 * 2^52: whole numbers end up in the low bits
  const __m256d clamped = _mm256_max_pd(x, smallest);
  const __m256d shifted = _mm256_fmadd_pd(clamped, _mm256_set1_pd(1.44269504088896340736), round);
  const __m256d n = _mm256_sub_pd(shifted, round);
  __m256d r = _mm256_fnmadd_pd(n, _mm256_set1_pd(6.93147180369123816490e-01), clamped);
  r = _mm256_fnmadd_pd(n, _mm256_set1_pd(1.90821492927058770002e-10), r);
  __m256d sum = _mm256_set1_pd(1.0 / 6227020800);
  for (const double coefficient : kTaylor) sum = _mm256_fmadd_pd(sum, r, _mm256_set1_pd(coefficient));
  const __m256i power = _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52);
  const __m256d result = _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(sum), power));
  return _mm256_and_pd(result, _mm256_cmp_pd(x, smallest, _CMP_GT_OQ));
}

BREGMAX_AVX2 double distances_avx2(const double* heights, Index count, double* out) {
  const __m256d minus_two = _mm256_set1_pd(-2);
  __m256d lowest = _mm256_set1_pd(std::numeric_limits<double>::infinity());
  Index j = 0;
  for (; j + 4 <= count; j += 4) {
    const __m256d distance = _mm256_fmadd_pd(minus_two, _mm256_loadu_pd(out + j), _mm256_loadu_pd(heights + j));
    _mm256_storeu_pd(out + j, distance);
    lowest = _mm256_min_pd(lowest, distance);
  }
  alignas(32) double lanes[4];
  _mm256_store_pd(lanes, lowest);
  double result = std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
  for (; j < count; ++j) {
    out[j] = heights[j] - 2 * out[j];
    result = std::min(result, out[j]);
  }
  return result;
}

BREGMAX_AVX2 double exponentials_avx2(double offset, Index count, double* values) {
  const __m256d offsets = _mm256_set1_pd(offset);
  __m256d first_sum = _mm256_setzero_pd(), second_sum = _mm256_setzero_pd();
  Index j = 0;
  for (; j + 8 <= count; j += 8) {
    const __m256d first = exponential(_mm256_sub_pd(offsets, _mm256_loadu_pd(values + j)));
    const __m256d second = exponential(_mm256_sub_pd(offsets, _mm256_loadu_pd(values + j + 4)));
    _mm256_storeu_pd(values + j, first);
    _mm256_storeu_pd(values + j + 4, second);
    first_sum = _mm256_add_pd(first_sum, first);
    second_sum = _mm256_add_pd(second_sum, second);
  }
  alignas(32) double lanes[4];
  _mm256_store_pd(lanes, _mm256_add_pd(first_sum, second_sum));
  double sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  for (; j < count; ++j) {
    values[j] = exponential(offset - values[j]);
    sum += values[j];
  }
  return sum;
}

BREGMAX_AVX2 Index count_avx2(const double* distances, double limit, Index count) {
  const __m256d limits = _mm256_set1_pd(limit);
  __m256i minus_found = _mm256_setzero_si256();  // a comparison that holds is -1
  Index j = 0;
  for (; j + 4 <= count; j += 4) {
    const __m256d below = _mm256_cmp_pd(_mm256_loadu_pd(distances + j), limits, _CMP_LT_OQ);
    minus_found = _mm256_add_epi64(minus_found, _mm256_castpd_si256(below));
  }
  alignas(32) std::int64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), minus_found);
  return portable_count_near(distances + j, limit, count - j) - (lanes[0] + lanes[1] + lanes[2] + lanes[3]);
}

BREGMAX_AVX2 Index near_avx2(const double* distances, double limit, Index begin, Index end, int* index, double* near) {
  const __m256d limits = _mm256_set1_pd(limit);
  Index found = 0, j = begin;
  for (; j + 4 <= end; j += 4) {
    auto mask =
        static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(distances + j), limits, _CMP_LT_OQ)));
    for (; mask != 0; mask &= mask - 1) {
      const Index at = j + std::countr_zero(mask);
      index[found] = static_cast<int>(at);
      near[found++] = distances[at];
    }
  }
  return found + portable_collect_near(distances, limit, j, end, index + found, near + found);
}

BREGMAX_AVX2 void pair_distances_avx2(const double* rows, Index stride, Index row, const int* index, Index count,
                                      double* out) {
  const double* own = rows + row * stride;
  for (Index k = 0; k < count; ++k) {
    const double* other = rows + index[k] * stride;
    __m256d sum = _mm256_setzero_pd();
    for (Index c = 0; c < stride; c += 4) {
      const __m256d difference = _mm256_sub_pd(_mm256_loadu_pd(own + c), _mm256_loadu_pd(other + c));
      sum = _mm256_fmadd_pd(difference, difference, sum);
    }
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(sum), _mm256_extractf128_pd(sum, 1));
    out[k] = _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
  }
}

BREGMAX_AVX2 void spread_avx2(const double* rows, Index stride, Index row, const int* index, const double* weights,
                              Index count, double* out) {
  const double* own = rows + row * stride;
  double* own_out = out + row * stride;
  for (Index k = 0; k < count; ++k) {
    const double* other = rows + index[k] * stride;
    double* other_out = out + index[k] * stride;
    const __m256d weight = _mm256_set1_pd(weights[k]);
    for (Index c = 0; c < stride; c += 4) {
      const __m256d pull = _mm256_mul_pd(weight, _mm256_sub_pd(_mm256_loadu_pd(own + c), _mm256_loadu_pd(other + c)));
      _mm256_storeu_pd(own_out + c, _mm256_add_pd(_mm256_loadu_pd(own_out + c), pull));
      _mm256_storeu_pd(other_out + c, _mm256_sub_pd(_mm256_loadu_pd(other_out + c), pull));
    }
  }
}

}  // namespace
#endif

double products_to_distances(const double* heights, Index count, double* out) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return distances_avx2(heights, count, out);
#endif
  return portable_products_to_distances(heights, count, out);
}

double exponentials(double offset, Index count, double* values) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return exponentials_avx2(offset, count, values);
#endif
  return portable_exponentials(offset, count, values);
}

Index count_near(const double* distances, double limit, Index count) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return count_avx2(distances, limit, count);
#endif
  return portable_count_near(distances, limit, count);
}

Index collect_near(const double* distances, double limit, Index begin, Index end, int* index, double* near) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return near_avx2(distances, limit, begin, end, index, near);
#endif
  return portable_collect_near(distances, limit, begin, end, index, near);
}

void pair_distances(const double* rows, Index stride, Index row, const int* index, Index count, double* out) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return pair_distances_avx2(rows, stride, row, index, count, out);
#endif
  portable_pair_distances(rows, stride, row, index, count, out);
}

void spread_differences(const double* rows, Index stride, Index row, const int* index, const double* weights,
                        Index count, double* out) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return spread_avx2(rows, stride, row, index, weights, count, out);
#endif
  portable_spread_differences(rows, stride, row, index, weights, count, out);
}

}  // namespace bregmax::internal
