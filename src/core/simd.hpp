#pragma once

#include <cstring>

#include "bregmax/core/matrix.hpp"

// The one way to use the instructions of newer processors. A loop is written once, with the types Four and double. It
// and everything that it calls are BREGMAX_INLINE functions. dispatch<> compiles it twice, for any processor and for
// those with AVX2, and picks one at run time:
//
//   BREGMAX_INLINE double sum_body(const double* x, Index count) {...}
//   double sum(const double* x, Index count, Instructions use = best_instructions()) {
//     return dispatch<sum_body>(use, x, count);
//   }
//
// Tests pass Instructions::kAny to run the version for older processors.

#if defined(__x86_64__) && defined(__GNUC__)
#define BREGMAX_AVX2 __attribute__((target("avx2,fma")))
#endif
#define BREGMAX_INLINE inline __attribute__((always_inline))
#define BREGMAX_INLINE_LAMBDA __attribute__((always_inline))  // after the parameters of a lambda in such a body

// Before a short loop over an array of vectors, which stay in registers only if the loop is unrolled.
#ifdef __clang__
#define BREGMAX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define BREGMAX_UNROLL _Pragma("GCC unroll 16")
#endif

namespace bregmax::internal {

enum class Instructions { kAny, kAvx2 };

#ifdef BREGMAX_AVX2
inline bool has_avx2() {
  static const bool found = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return found;
}
inline Instructions best_instructions() { return has_avx2() ? Instructions::kAvx2 : Instructions::kAny; }

template <auto body, class... Arguments>
BREGMAX_AVX2 auto run_avx2(Arguments... arguments) {
  return body(arguments...);
}
#else
inline Instructions best_instructions() { return Instructions::kAny; }
#endif

// body(arguments...) with the given instructions. Arguments are passed by value: stores through pointers cannot change
// them, so they stay in registers. Results go through pointers, or are returned.
template <auto body, class... Arguments>
auto dispatch([[maybe_unused]] Instructions use, Arguments... arguments) {
#ifdef BREGMAX_AVX2
  if (use == Instructions::kAvx2) return run_avx2<body>(arguments...);
#endif
  return body(arguments...);
}

// Four numbers; the compiler uses the registers that the processor has. They need not be aligned in memory: memcpy
// becomes one unaligned load or store.
using Four = double __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
using EightFloats = float __attribute__((vector_size(32)));
inline constexpr Index kLanes = 4;
template <class V>
inline constexpr Index kLanesOf = 1;
template <>
inline constexpr Index kLanesOf<Four> = kLanes;
template <>
inline constexpr Index kLanesOf<EightFloats> = 8;

// One number or four, so that a loop and its remainder are one template.
BREGMAX_INLINE void load(const double* from, double& value) { value = *from; }
BREGMAX_INLINE void load(const double* from, Four& value) { std::memcpy(&value, from, sizeof value); }
BREGMAX_INLINE void load(const float* from, double& value) { value = *from; }
BREGMAX_INLINE void load(const float* from, Four& value) {
  FourFloats floats;
  std::memcpy(&floats, from, sizeof floats);
  value = __builtin_convertvector(floats, Four);
}
BREGMAX_INLINE void load(const float* from, EightFloats& value) { std::memcpy(&value, from, sizeof value); }

BREGMAX_INLINE void store(const double& value, double* to) { *to = value; }
BREGMAX_INLINE void store(const Four& value, double* to) { std::memcpy(to, &value, sizeof value); }
BREGMAX_INLINE void store(const double& value, float* to) { *to = static_cast<float>(value); }
BREGMAX_INLINE void store(const Four& value, float* to) {
  const FourFloats floats = __builtin_convertvector(value, FourFloats);
  std::memcpy(to, &floats, sizeof floats);
}
BREGMAX_INLINE void store(const EightFloats& value, float* to) { std::memcpy(to, &value, sizeof value); }

BREGMAX_INLINE double total(const double& value) { return value; }
BREGMAX_INLINE double total(const Four& value) { return (value[0] + value[1]) + (value[2] + value[3]); }
BREGMAX_INLINE float total(const EightFloats& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

}  // namespace bregmax::internal
