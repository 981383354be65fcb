#pragma once

// The loops that write the divergence matrix. With `stream` they write around the cache, for outputs larger than it;
// finish_streaming() must follow, in the thread that wrote, before another thread reads.

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// out[i] = values[index[i]]
void gather(const double* values, const int* index, Index count, double* out, bool stream);

// out[i] = max(0, values[i] + addends[i] + constant)
void add_and_clamp(const double* values, const double* addends, double constant, Index count, double* out, bool stream);

void finish_streaming();

// Whether streaming pays: an output larger than a last-level cache.
inline bool worth_streaming(Index rows, Index cols) {
  return static_cast<double>(rows) * static_cast<double>(cols) > 4e6;
}

}  // namespace bregmax::internal
