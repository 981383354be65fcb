#pragma once

namespace bregmax::internal {

// Divergences of one query are tied where they differ by no more than this times (the nearer one + the median one).
// Max-affine divergences are tied where they are equal. docs/mathematics.md, section 11, says why.
inline constexpr double kTieTolerance = 1e-12;

inline double farthest_tied(double nearest, double median, double tolerance) {
  return nearest + tolerance * (nearest + median);
}

}  // namespace bregmax::internal
