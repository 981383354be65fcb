#pragma once

#include "bregmax/divergence/smooth.hpp"

namespace bregmax {

// phi(x) = sum_i weights(i) exp(<anchors.row(i), x>), with weights >= 0. Products <anchor, x> are at most 300.
class ExponentialSum final : public SmoothDivergence {
 public:
  ExponentialSum(Matrix anchors, Vector weights);

  const Matrix& anchors() const { return anchors_; }
  const Vector& weights() const { return weights_; }

  std::string name() const override { return "exponential_sum"; }
  Index dimension() const override { return anchors_.cols(); }

 protected:
  double generator(const VectorView& point) const override;
  void gradient(const VectorView& reference, VectorSpan out) const override;
  double divergence(const VectorView& point, const VectorView& reference) const override;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const override;
  bool centering_helps() const override { return true; }

 private:
  Matrix anchors_;
  Vector weights_;
};

}  // namespace bregmax
