#pragma once

#include "bregmax/divergence/separable.hpp"

namespace bregmax {

// phi(x) = ||x||^2, D(point, reference) = ||point - reference||^2.
class SquaredEuclidean final : public SeparableDivergence {
 public:
  std::string name() const override { return "squared_euclidean"; }

 protected:
  double generator_term(double point) const override { return point * point; }
  double derivative(double reference) const override { return 2 * reference; }
  double divergence_term(double point, double reference) const override {
    return (point - reference) * (point - reference);
  }
  bool centering_helps() const override { return true; }
};

}  // namespace bregmax
