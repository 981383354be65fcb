#pragma once

#include "bregmax/divergence/separable.hpp"

namespace bregmax {

// Generalised I-divergence: phi(x) = sum x_i log x_i, D(point, reference) = sum p_i log(p_i / r_i) - p_i + r_i.
// A point has entries >= 0 (0 log 0 = 0), a reference has entries > 0.
class IDivergence final : public SeparableDivergence {
 public:
  std::string name() const override { return "i_divergence"; }

 protected:
  double generator_term(double point) const override;
  double derivative(double reference) const override;
  double divergence_term(double point, double reference) const override;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const override;
};

}  // namespace bregmax
