#pragma once

#include "bregmax/divergence/separable.hpp"

namespace bregmax {

// phi(x) = sum exp(x_i), D(point, reference) = sum e^p_i - e^r_i (1 + p_i - r_i). Entries are at most 300, where exp
// times any entry is still finite.
class Exponential final : public SeparableDivergence {
 public:
  std::string name() const override { return "exponential"; }

 protected:
  double generator_term(double point) const override;
  double derivative(double reference) const override;
  double divergence_term(double point, double reference) const override;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const override;
  bool centering_helps() const override { return true; }
};

}  // namespace bregmax
