#pragma once

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

namespace bregmax::internal {

#ifdef BREGMAX_AVX2
inline bool has_avx2() {
  static const bool found = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return found;
}
#endif

// Four numbers; the compiler makes of them what the processor has. In memory they lie where any number may lie.
using Four = double __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
using FourInMemory = double __attribute__((vector_size(32), aligned(8), may_alias));
using FourFloatsInMemory = float __attribute__((vector_size(16), aligned(4), may_alias));

// One number or four, so that a loop and its remainder can be one template.
BREGMAX_INLINE void load(const double* from, double& value) { value = *from; }
BREGMAX_INLINE void load(const double* from, Four& value) { value = *reinterpret_cast<const FourInMemory*>(from); }
BREGMAX_INLINE void load(const float* from, double& value) { value = *from; }
BREGMAX_INLINE void load(const float* from, Four& value) {
  value = __builtin_convertvector(*reinterpret_cast<const FourFloatsInMemory*>(from), Four);
}

BREGMAX_INLINE void store(const double& value, double* to) { *to = value; }
BREGMAX_INLINE void store(const Four& value, double* to) { *reinterpret_cast<FourInMemory*>(to) = value; }
BREGMAX_INLINE void store(const double& value, float* to) { *to = static_cast<float>(value); }
BREGMAX_INLINE void store(const Four& value, float* to) {
  *reinterpret_cast<FourFloatsInMemory*>(to) = __builtin_convertvector(value, FourFloats);
}

BREGMAX_INLINE double total(const double& value) { return value; }
BREGMAX_INLINE double total(const Four& value) { return (value[0] + value[1]) + (value[2] + value[3]); }

}  // namespace bregmax::internal
