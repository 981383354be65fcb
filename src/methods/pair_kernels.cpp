#include "methods/pair_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exponentials.hpp"

namespace bregmax::internal {
namespace {

static_assert(kSmallestExponent == -kNegligibleExponent);

BREGMAX_INLINE double products_to_distances(const double* heights, Index count, double* out) {
  Four lowest = Four{} + std::numeric_limits<double>::infinity();
  Index j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    Four height, product;
    load(heights + j, height);
    load(out + j, product);
    const Four distance = height - 2 * product;
    store(distance, out + j);
    lowest = lowest < distance ? lowest : distance;
  }
  double result = std::min(std::min(lowest[0], lowest[1]), std::min(lowest[2], lowest[3]));
  for (; j < count; ++j) {
    out[j] = heights[j] - 2 * out[j];
    result = std::min(result, out[j]);
  }
  return result;
}

BREGMAX_INLINE double exponentials(double offset, Index count, double* values) {
  Four sums[2] = {};  // two chains of additions, so that one does not wait for the other
  Index j = 0;
  for (; j + 2 * kLanes <= count; j += 2 * kLanes) {
    BREGMAX_UNROLL
    for (Index half = 0; half < 2; ++half) {
      Four value;
      load(values + j + half * kLanes, value);
      value = offset - value;
      exponentiate(value);
      store(value, values + j + half * kLanes);
      sums[half] += value;
    }
  }
  double sum = total(Four(sums[0] + sums[1]));
  for (; j < count; ++j) {
    values[j] = offset - values[j];
    exponentiate(values[j]);
    sum += values[j];
  }
  return sum;
}

BREGMAX_INLINE Index count_near(const double* distances, double limit, Index count) {
  FourWhole minus_found = {};  // a comparison that holds is -1
  Index j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    Four distance;
    load(distances + j, distance);
    minus_found += distance < limit;
  }
  Index found = -(minus_found[0] + minus_found[1] + minus_found[2] + minus_found[3]);
  for (; j < count; ++j) found += distances[j] < limit ? 1 : 0;
  return found;
}

// Eight comparisons become the bits of one number; of them only those that hold are visited.
BREGMAX_INLINE Index collect_near(const double* distances, double limit, Index begin, Index end, int* index,
                                  double* near) {
  constexpr FourWhole kFirstBits = {1, 2, 4, 8}, kSecondBits = {16, 32, 64, 128};
  Index found = 0, j = begin;
  for (; j + 2 * kLanes <= end; j += 2 * kLanes) {
    Four first, second;
    load(distances + j, first);
    load(distances + j + kLanes, second);
    const FourWhole bits = ((first < limit) & kFirstBits) | ((second < limit) & kSecondBits);
    auto mask = static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
    for (; mask != 0; mask &= mask - 1) {
      const Index at = j + std::countr_zero(mask);
      index[found] = static_cast<int>(at);
      near[found++] = distances[at];
    }
  }
  for (; j < end; ++j) {
    if (!(distances[j] < limit)) continue;
    index[found] = static_cast<int>(j);
    near[found++] = distances[j];
  }
  return found;
}

BREGMAX_INLINE void pair_distances(const double* rows, Index stride, Index row, const int* index, Index count,
                                   double* out) {
  const double* own = rows + row * stride;
  for (Index k = 0; k < count; ++k) {
    const double* other = rows + index[k] * stride;
    Four sum = {};
    for (Index c = 0; c < stride; c += kLanes) {
      Four mine, theirs;
      load(own + c, mine);
      load(other + c, theirs);
      const Four difference = mine - theirs;
      sum += difference * difference;
    }
    out[k] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
}

BREGMAX_INLINE void spread_differences(const double* rows, Index stride, Index row, const int* index,
                                       const double* weights, Index count, double* out) {
  const double* own = rows + row * stride;
  double* own_out = out + row * stride;
  for (Index k = 0; k < count; ++k) {
    const double* other = rows + index[k] * stride;
    double* other_out = out + index[k] * stride;
    for (Index c = 0; c < stride; c += kLanes) {
      Four mine, theirs, my_sum, their_sum;
      load(own + c, mine);
      load(other + c, theirs);
      load(own_out + c, my_sum);
      load(other_out + c, their_sum);
      const Four pull = weights[k] * (mine - theirs);
      store(Four(my_sum + pull), own_out + c);
      store(Four(their_sum - pull), other_out + c);
    }
  }
}

constexpr PairKernels kPortable = {products_to_distances, exponentials,   count_near,
                                   collect_near,          pair_distances, spread_differences};

#ifdef BREGMAX_AVX2
constexpr PairKernels kWide = {run_avx2<products_to_distances>, run_avx2<exponentials>,   run_avx2<count_near>,
                               run_avx2<collect_near>,          run_avx2<pair_distances>, run_avx2<spread_differences>};
#endif

}  // namespace

const PairKernels& portable_pair_kernels() { return kPortable; }

const PairKernels& pair_kernels() {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return kWide;
#endif
  return kPortable;
}

}  // namespace bregmax::internal
