#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/simd.hpp"

// exp of several numbers at once.

namespace bregmax::internal {

using FourWhole = std::int64_t __attribute__((vector_size(32)));
using EightWhole = std::int32_t __attribute__((vector_size(32)));

// exp is 0 at and below these. Sums that have a term of 1 do not see what is left out.
inline constexpr double kSmallestExponent = -45;
inline constexpr float kSmallestExponentFloat = -45;

BREGMAX_INLINE void exponentiate(double& x) { x = x > kSmallestExponent ? std::exp(x) : 0.0; }
BREGMAX_INLINE void exponentiate(float& x) { x = x > kSmallestExponentFloat ? std::exp(x) : 0.0F; }

// Of numbers <= 0: x = n ln 2 + r with |r| <= ln 2 / 2; the Taylor polynomial of degree 13 is exact to rounding there;
// n goes into the exponent.
BREGMAX_INLINE void exponentiate(Four& x) {
  constexpr double kTaylor[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1,           1};
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: whole numbers end up in the low bits
  const FourWhole counts = x > kSmallestExponent;
  const Four clamped = counts ? x : Four{} + kSmallestExponent;
  const Four shifted = clamped * 1.44269504088896340736 + kRound;
  const Four n = shifted - kRound;
  Four r = clamped - n * 6.93147180369123816490e-01;
  r -= n * 1.90821492927058770002e-10;
  Four sum = Four{} + 1.0 / 6227020800;
  BREGMAX_UNROLL
  for (const double coefficient : kTaylor) sum = sum * r + coefficient;
  const FourWhole power = reinterpret_cast<FourWhole>(shifted) << 52;
  x = counts ? reinterpret_cast<Four>(reinterpret_cast<FourWhole>(sum) + power) : Four{};
}

// The same in single precision, where degree 7 suffices.
BREGMAX_INLINE void exponentiate(EightFloats& x) {
  constexpr float kTaylor[] = {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1, 1};
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23
  const EightWhole counts = x > kSmallestExponentFloat;
  const EightFloats clamped = counts ? x : EightFloats{} + kSmallestExponentFloat;
  const EightFloats shifted = clamped * 1.44269504F + kRound;
  const EightFloats n = shifted - kRound;
  EightFloats r = clamped - n * 0.693359375F;
  r += n * 2.12194440e-4F;
  EightFloats sum = EightFloats{} + 1.0F / 5040;
  BREGMAX_UNROLL
  for (const float coefficient : kTaylor) sum = sum * r + coefficient;
  const EightWhole power = reinterpret_cast<EightWhole>(shifted) << 23;
  x = counts ? reinterpret_cast<EightFloats>(reinterpret_cast<EightWhole>(sum) + power) : EightFloats{};
}

}  // namespace bregmax::internal
