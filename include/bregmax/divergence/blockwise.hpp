#pragma once

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// What a smooth divergence has beside its functions of single rows where a block of rows costs less than its rows one
// by one. The rows were already checked.
class BlockwiseGenerator {
 public:
  virtual ~BlockwiseGenerator() = default;
  // out.row(r) = gradient of phi at references.row(r)
  virtual void gradients_of_block(const MatrixView& references, MatrixSpan out) const = 0;
  // out(p) = D(points.row(p), reference)
  virtual void divergences_of_block(const MatrixView& points, const VectorView& reference, VectorSpan out) const = 0;
};

}  // namespace bregmax
