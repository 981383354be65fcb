#pragma once

#include "bregmax/divergence/smooth.hpp"

namespace bregmax {

// Each row is a symmetric positive definite p x p matrix, flattened row by row (p * p features):
// phi(X) = -log det X, D(point X, reference Y) = tr(X Y^-1) - log det(X Y^-1) - p.
class LogDet final : public SmoothDivergence {
 public:
  std::string name() const override { return "logdet"; }
  Index dimension() const override { return 0; }  // any p * p

 protected:
  double generator(const VectorView& point) const override;
  void gradient(const VectorView& reference, VectorSpan out) const override;
  double divergence(const VectorView& point, const VectorView& reference) const override;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const override;
};

}  // namespace bregmax
