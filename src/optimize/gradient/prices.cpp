#include "optimize/gradient/prices.hpp"

namespace bregmax::internal {

template <class Real>
VectorOf<Real> feature_norms(const ParameterLayout& layout, const Real* parameters) {
  if (layout.shape.layers() > 0) return layout.weights.front().in(parameters).colwise().norm().transpose();
  const auto slopes = layout.slopes.in(parameters), roots = layout.roots.in(parameters);
  const auto mean = slopes.colwise().mean().eval();
  VectorOf<Real> squares = (slopes.rowwise() - mean).colwise().squaredNorm().transpose();
  if (roots.rows() > 0) squares += roots.colwise().squaredNorm().transpose();
  return squares.cwiseSqrt();
}

template <class Real>
double PriceTerms<Real>::add(const Real* parameters, Real* gradient) {
  double price = 0;
  if (prices_.decay == 0 && prices_.feature == 0) return price;
  mean_ = layout_.slopes.in(parameters).colwise().mean().transpose();
  if (prices_.decay > 0) price += add_decay(parameters, gradient);
  if (prices_.feature > 0) price += add_feature_price(parameters, gradient);
  return price;
}

template <class Real>
double PriceTerms<Real>::add_decay(const Real* parameters, Real* gradient) {
  const auto slopes = layout_.slopes.in(parameters), roots = layout_.roots.in(parameters);
  auto by_slopes = layout_.slopes.in(gradient), by_roots = layout_.roots.in(gradient);
  const Real factor = static_cast<Real>(2 * prices_.decay);
  const bool square = roots.rows() == roots.cols();
  const Real common = square ? roots.diagonal().mean() : Real(0);
  double sum = roots.squaredNorm() - common * common * static_cast<Real>(roots.rows());
  for (Index k = 0; k < slopes.rows(); ++k) {
    sum += kSlopesPrice * (slopes.row(k) - mean_.transpose()).squaredNorm();
    by_slopes.row(k) += static_cast<Real>(kSlopesPrice) * factor * (slopes.row(k) - mean_.transpose());
  }
  by_roots += factor * roots;
  if (square) by_roots.diagonal().array() -= factor * common;
  return prices_.decay * sum;
}

template <class Real>
double PriceTerms<Real>::add_feature_price(const Real* parameters, Real* gradient) {
  constexpr auto kSmoothed = static_cast<Real>(kSmoothedNorm);
  const auto price = static_cast<Real>(prices_.feature);
  const bool network = layout_.shape.layers() > 0;
  const Block& first = network ? layout_.weights.front() : layout_.slopes;
  const Index rows = network ? first.rows : layout_.shape.directions();
  const Index centred = network ? 0 : layout_.shape.pieces;  // rows that count from their mean
  const Real* matrix = parameters + first.begin;
  Real* by_matrix = gradient + first.begin;
  norms_.setConstant(kSmoothed * kSmoothed);
  for (Index k = 0; k < rows; ++k) {
    for (Index f = 0; f < first.cols; ++f) {
      const Real value = matrix[k * first.cols + f] - (k < centred ? mean_[f] : Real(0));
      norms_[f] += value * value;
    }
  }
  norms_ = norms_.cwiseSqrt();
  for (Index k = 0; k < rows; ++k) {
    for (Index f = 0; f < first.cols; ++f) {
      const Real value = matrix[k * first.cols + f] - (k < centred ? mean_[f] : Real(0));
      by_matrix[k * first.cols + f] += price * value / norms_[f];
    }
  }
  return prices_.feature * (static_cast<double>(norms_.sum()) - kSmoothedNorm * static_cast<double>(norms_.size()));
}

template VectorOf<float> feature_norms<float>(const ParameterLayout&, const float*);
template VectorOf<double> feature_norms<double>(const ParameterLayout&, const double*);
template class PriceTerms<float>;
template class PriceTerms<double>;

}  // namespace bregmax::internal
