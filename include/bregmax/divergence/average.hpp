#pragma once

#include <vector>

#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// phi = sum_i weights(i) phi_i, and so D = sum_i weights(i) D_i. The domain is where every member is defined.
class AverageDivergence final : public Divergence {
 public:
  using Members = std::vector<std::shared_ptr<const Divergence>>;

  // Weights are finite and >= 0, at least one of them > 0; they are used as given, not normalised.
  AverageDivergence(Members members, Vector weights);
  explicit AverageDivergence(const Members& members);  // equal weights that sum to 1

  const Members& members() const { return members_; }
  const Vector& weights() const { return weights_; }

  std::string name() const override { return "average"; }
  Index dimension() const override { return dimension_; }
  Vector generator_values(const MatrixView& points) const override;
  Matrix gradients(const MatrixView& references) const override;
  std::unique_ptr<ReferenceSet> prepare(const MatrixView& references) const override;

 protected:
  void check(const MatrixView& rows, RowRole role) const override;
  double divergence(const VectorView& point, const VectorView& reference) const override;

 private:
  Members members_;
  Vector weights_;
  Index dimension_ = 0;
};

}  // namespace bregmax
