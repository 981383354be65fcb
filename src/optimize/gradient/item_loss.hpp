#pragma once

#include <span>

#include "optimize/gradient/row_pass.hpp"
#include "optimize/problem/items.hpp"

namespace bregmax::internal {

// The loss of one item: softplus(D(i, j) - D(k, l)) of a comparison, softplus(D - t) of a similar and softplus(t - D)
// of a dissimilar pair with a learned threshold t, and ((D - value) / unit)^2 of a target.
template <class Real>
class ItemLoss {
 public:
  explicit ItemLoss(double target_unit) : inverse_unit_(static_cast<Real>(1 / target_unit)) {}

  // The rows of the items are numbers of rows of the pass, after forward(). Each loss is multiplied by the item's
  // weight and by `factor`. Writes the derivatives into the pass, and adds that by the logarithm of t to
  // `by_log_threshold`.
  double evaluate(RowPass<Real>& pass, std::span<const Item> items, double factor, Real log_threshold,
                  Real& by_log_threshold);

 private:
  Real divergence(RowPass<Real>& pass, const DivergenceTerm& term) const;
  void spread(RowPass<Real>& pass, const DivergenceTerm& term, Real derivative) const;

  Real inverse_unit_;
};

}  // namespace bregmax::internal
