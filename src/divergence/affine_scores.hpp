#pragma once

#include <vector>

#include "core/simd.hpp"

namespace bregmax::internal {

// The scores <a_k, x> + b_k of affine pieces. A row has the same scores, to the last bit, whichever rows surround it,
// because rankings compare them for equality. BLAS does not promise that: rows at the edge of a block are special.
class AffineScores {
 public:
  AffineScores(const Matrix& slopes, const Vector& offsets);

  Index pieces() const { return offsets_.size(); }
  // scores: count x pieces, row by row.
  void compute(const double* rows, Index row_stride, Index count, double* scores,
               Instructions use = best_instructions()) const;

 private:
  Index features_;
  std::vector<double> packed_;  // the slopes in panels of a few pieces, feature by feature
  Vector offsets_;
};

}  // namespace bregmax::internal
