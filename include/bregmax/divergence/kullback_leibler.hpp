#pragma once

#include "bregmax/divergence/separable.hpp"

namespace bregmax {

// Kullback-Leibler divergence of probability vectors: the I-divergence on rows that sum to 1 (to 1e-6; other rows are
// refused, never rescaled). A point may have zeros, a reference may not.
//
// The value is sum p_i log(p_i / r_i) - p_i + r_i: on the simplex the last two terms cancel, and with them D stays
// non-negative for rows whose sum is rounded.
class KullbackLeibler final : public SeparableDivergence {
 public:
  std::string name() const override { return "kl"; }

 protected:
  double generator_term(double point) const override;
  double derivative(double reference) const override;
  double divergence_term(double point, double reference) const override;
  void check_domain(const VectorView& row, Index row_number, RowRole role) const override;
};

}  // namespace bregmax
