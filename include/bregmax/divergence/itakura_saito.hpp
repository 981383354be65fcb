#pragma once

#include "bregmax/divergence/separable.hpp"

namespace bregmax {

// phi(x) = -sum log x_i, D(point, reference) = sum p_i / r_i - log(p_i / r_i) - 1. All entries are > 0 (at least
// 1e-100, so that no quotient overflows).
class ItakuraSaito final : public SeparableDivergence {
 public:
  std::string name() const override { return "itakura_saito"; }

 protected:
  double generator_term(double point) const override;
  double derivative(double reference) const override;
  double divergence_term(double point, double reference) const override;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const override;
};

}  // namespace bregmax
