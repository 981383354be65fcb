#pragma once

#include "bregmax/divergence/smooth.hpp"

namespace bregmax {

// phi(x) = x^T M x, D(point, reference) = (point - reference)^T M (point - reference). The matrix must be symmetric
// (to 1e-9 of its largest entry; it is then made exactly so) and positive semidefinite (no eigenvalue below -1e-10 of
// the largest).
class Mahalanobis final : public SmoothDivergence {
 public:
  explicit Mahalanobis(Matrix matrix);

  const Matrix& metric() const { return metric_; }

  std::string name() const override { return "mahalanobis"; }
  Index dimension() const override { return metric_.rows(); }

 protected:
  double generator(const VectorView& point) const override;
  void gradient(const VectorView& reference, VectorSpan out) const override;
  double divergence(const VectorView& point, const VectorView& reference) const override;
  bool centering_helps() const override { return true; }

 private:
  Matrix metric_;
};

}  // namespace bregmax
