#include "divergence/streaming.hpp"

#include <algorithm>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace bregmax::internal {
namespace {

struct Gather {
  const double* values;
  const int* index;
  double one(Index i) const { return values[index[i]]; }
#ifdef __SSE2__
  __m128d two(Index i) const { return _mm_loadh_pd(_mm_load_sd(values + index[i]), values + index[i + 1]); }
#endif
};

struct AddAndClamp {
  const double* values;
  const double* addends;
  double constant;
  double one(Index i) const { return std::max(0.0, values[i] + addends[i] + constant); }
#ifdef __SSE2__
  __m128d two(Index i) const {
    const __m128d sum = _mm_add_pd(_mm_loadu_pd(values + i), _mm_loadu_pd(addends + i));
    return _mm_max_pd(_mm_setzero_pd(), _mm_add_pd(sum, _mm_set1_pd(constant)));
  }
#endif
};

#ifdef __SSE2__

// Whole cache lines at a time: a line that is streamed in parts costs a read.
template <bool kStream, class Source>
void write_lines(const Source& source, Index count, double* out) {
  Index i = 0;
  if (kStream) {
    for (; i < count && reinterpret_cast<std::uintptr_t>(out + i) % 64 != 0; ++i) out[i] = source.one(i);
  }
  for (; i + 8 <= count; i += 8) {
    __m128d line[4];
    for (Index p = 0; p < 4; ++p) line[p] = source.two(i + 2 * p);
    for (Index p = 0; p < 4; ++p) {
      kStream ? _mm_stream_pd(out + i + 2 * p, line[p]) : _mm_storeu_pd(out + i + 2 * p, line[p]);
    }
  }
  for (; i < count; ++i) out[i] = source.one(i);
}

template <class Source>
void write(const Source& source, Index count, double* out, bool stream) {
  stream ? write_lines<true>(source, count, out) : write_lines<false>(source, count, out);
}

#else

template <class Source>
void write(const Source& source, Index count, double* out, bool) {
  for (Index i = 0; i < count; ++i) out[i] = source.one(i);
}

#endif

}  // namespace

void gather(const double* values, const int* index, Index count, double* out, bool stream) {
  write(Gather{values, index}, count, out, stream);
}

void add_and_clamp(const double* values, const double* addends, double constant, Index count, double* out,
                   bool stream) {
  write(AddAndClamp{values, addends, constant}, count, out, stream);
}

void finish_streaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace bregmax::internal
