#pragma once

#include "bregmax/divergence/smooth.hpp"

namespace bregmax {

// phi(x) = sum over the features of one function of one number. Any number of features.
class SeparableDivergence : public SmoothDivergence {
 public:
  Index dimension() const override { return 0; }

 protected:
  virtual double generator_term(double point) const = 0;
  virtual double derivative(double reference) const = 0;
  virtual double divergence_term(double point, double reference) const = 0;  // >= 0, without cancellation

  double generator(const VectorView& point) const final;
  void gradient(const VectorView& reference, VectorSpan out) const final;
  double divergence(const VectorView& point, const VectorView& reference) const final;
};

}  // namespace bregmax
