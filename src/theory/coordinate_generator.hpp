#pragma once

#include "bregmax/theory/box.hpp"

namespace bregmax::internal {

// Throws Error unless the box has a finite center and a finite radius > 0.
void check_box(const Box& box);

// How the free coordinates of a domain become features.
enum class Chart { kIdentity, kSimplex, kSymmetric };
Chart chart_of(const Divergence& divergence);

// The order p of symmetric matrices with p (p + 1) / 2 = dimension; throws Error if there is no such p.
Index symmetric_order(Index dimension);

// A generator as a function of the coordinates of a box (see Box). An affine change of variables: D stays D.
class CoordinateGenerator {
 public:
  // Throws Error when the generator has no such number of coordinates. The divergence must outlive this object.
  CoordinateGenerator(const Divergence& divergence, Index dimension);

  Matrix features(const MatrixView& coordinates) const;
  Vector values(const MatrixView& coordinates) const;
  Matrix gradients(const MatrixView& coordinates) const;
  Vector divergences(const MatrixView& points, const MatrixView& references) const;  // row by row

 private:
  const Divergence& divergence_;
  Chart chart_;
  Index dimension_;
};

}  // namespace bregmax::internal
