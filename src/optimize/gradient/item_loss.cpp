#include "optimize/gradient/item_loss.hpp"

#include <cmath>

namespace bregmax::internal {
namespace {

template <class Real>
Real softplus(Real x) {
  return std::max(x, Real(0)) + std::log1p(std::exp(-std::abs(x)));
}

template <class Real>
Real logistic(Real x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

}  // namespace

template <class Real>
Real ItemLoss<Real>::divergence(RowPass<Real>& pass, const DivergenceTerm& term) const {
  const auto z = pass.embedded(), g = pass.gradients();
  return pass.values()[term.point] - pass.values()[term.reference] -
         g.row(term.reference).dot(z.row(term.point) - z.row(term.reference));
}

template <class Real>
void ItemLoss<Real>::spread(RowPass<Real>& pass, const DivergenceTerm& term, Real derivative) const {
  const Index point = term.point, reference = term.reference;
  const auto z = pass.embedded(), g = pass.gradients();
  pass.by_values()[point] += derivative;
  pass.by_values()[reference] -= derivative;
  pass.by_gradients().row(reference) -= derivative * (z.row(point) - z.row(reference));
  if (!pass.has_network()) return;
  pass.by_embedded().row(point) -= derivative * g.row(reference);
  pass.by_embedded().row(reference) += derivative * g.row(reference);
}

template <class Real>
double ItemLoss<Real>::evaluate(RowPass<Real>& pass, std::span<const Item> items, double factor, Real log_threshold,
                                Real& by_log_threshold) {
  pass.by_values().setZero();
  pass.by_gradients().setZero();
  if (pass.has_network()) pass.by_embedded().setZero();
  const Real threshold = std::exp(log_threshold);
  double loss = 0;
  for (const Item& item : items) {
    const bool comparison = item.plus.exists() && item.minus.exists();
    Real score = 0;
    if (item.plus.exists()) score += divergence(pass, item.plus);
    if (item.minus.exists()) score -= divergence(pass, item.minus);
    const Real weight = static_cast<Real>(item.weight * factor);
    Real derivative = 0;
    if (item.squared) {
      const Real error = (score - static_cast<Real>(item.value)) * inverse_unit_;
      loss += weight * error * error;
      derivative = 2 * weight * error * inverse_unit_;
    } else {
      const Real side = comparison ? Real(0) : item.plus.exists() ? Real(-1) : Real(1);
      score += side * threshold;
      loss += weight * softplus(score);
      derivative = weight * logistic(score);
      by_log_threshold += derivative * side * threshold;
    }
    if (item.plus.exists()) spread(pass, item.plus, derivative);
    if (item.minus.exists()) spread(pass, item.minus, -derivative);
  }
  return loss;
}

template class ItemLoss<float>;
template class ItemLoss<double>;

}  // namespace bregmax::internal
