#pragma once

#include <cmath>

#include "bregmax/core/matrix.hpp"

// The upper triangle of a symmetric matrix, row by row, its entries off the diagonal times the root of 2: inner
// products of packed matrices are those of the matrices.

namespace bregmax::internal {

inline Index packed_size(Index size) { return size * (size + 1) / 2; }

// entry(i, j) for i <= j.
template <class Entry>
void pack_symmetric(Index size, const Entry& entry, double* out) {
  const double root = std::sqrt(2.0);
  for (Index i = 0; i < size; ++i) {
    *out++ = entry(i, i);
    for (Index j = i + 1; j < size; ++j) *out++ = root * entry(i, j);
  }
}

inline Matrix unpack_symmetric(const Vector& packed, Index size) {
  Matrix out(size, size);
  Index at = 0;
  for (Index i = 0; i < size; ++i) {
    out(i, i) = packed(at++);
    for (Index j = i + 1; j < size; ++j) out(i, j) = out(j, i) = packed(at++) / std::sqrt(2.0);
  }
  return out;
}

}  // namespace bregmax::internal
