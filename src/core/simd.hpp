#pragma once

#include <cstring>

#include "bregmax/core/matrix.hpp"

// For loops that are compiled twice, for any processor and for those with AVX2, and chosen at run time:
//
//   BREGMAX_INLINE void body(...) {...}
//   #ifdef BREGMAX_AVX2
//   BREGMAX_AVX2 void avx2(...) { body(...); }
//   #endif
//
// What such a body is made of has to become part of it: BREGMAX_INLINE.

#if defined(__x86_64__) && defined(__GNUC__)
#define BREGMAX_AVX2 __attribute__((target("avx2,fma")))
#endif
#define BREGMAX_INLINE inline __attribute__((always_inline))

// Before a short loop over an array of vectors: only where it is written out can they stay in registers.
#ifdef __clang__
#define BREGMAX_UNROLL _Pragma("clang loop unroll(full)")
#else
#define BREGMAX_UNROLL _Pragma("GCC unroll 16")
#endif

namespace bregmax::internal {

#ifdef BREGMAX_AVX2
inline bool has_avx2() {
  static const bool found = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return found;
}
#endif

// Four numbers; the compiler makes of them what the processor has. In memory they lie where any number may lie, hence
// the copies, which become one instruction.
using Four = double __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
inline constexpr Index kLanes = 4;
template <class V>
inline constexpr Index kLanesOf = 1;
template <>
inline constexpr Index kLanesOf<Four> = kLanes;

// One number or four, so that a loop and its remainder can be one template.
BREGMAX_INLINE void load(const double* from, double& value) { value = *from; }
BREGMAX_INLINE void load(const double* from, Four& value) { std::memcpy(&value, from, sizeof value); }
BREGMAX_INLINE void load(const float* from, double& value) { value = *from; }
BREGMAX_INLINE void load(const float* from, Four& value) {
  FourFloats floats;
  std::memcpy(&floats, from, sizeof floats);
  value = __builtin_convertvector(floats, Four);
}

BREGMAX_INLINE void store(const double& value, double* to) { *to = value; }
BREGMAX_INLINE void store(const Four& value, double* to) { std::memcpy(to, &value, sizeof value); }
BREGMAX_INLINE void store(const double& value, float* to) { *to = static_cast<float>(value); }
BREGMAX_INLINE void store(const Four& value, float* to) {
  const FourFloats floats = __builtin_convertvector(value, FourFloats);
  std::memcpy(to, &floats, sizeof floats);
}

BREGMAX_INLINE double total(const double& value) { return value; }
BREGMAX_INLINE double total(const Four& value) { return (value[0] + value[1]) + (value[2] + value[3]); }

}  // namespace bregmax::internal
