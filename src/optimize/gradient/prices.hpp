#pragma once

#include "optimize/gradient/parameters.hpp"

namespace bregmax::internal {

// What is added to the loss.
struct Prices {
  // Times |G - g I|^2 + kSlopesPrice sum_k |a_k - mean a|^2, where g is the mean of G's diagonal, or 0 if G is not
  // square. A large price leaves a multiple of the Euclidean distance. Shifting all a_k by one vector changes no
  // divergence.
  double decay = 0;
  double feature = 0;  // times the sum over features of the norm of what reads them, which drops those that say nothing
};

// The norms of the features: of the columns of (a_k - mean a, G), or of the first layer of a network.
template <class Real>
VectorOf<Real> feature_norms(const ParameterLayout& layout, const Real* parameters);

// With the same price on both, what keeps G from fitting noise leaves no pieces at all.
inline constexpr double kSlopesPrice = 0.1;

// Adds the derivatives to `gradient` and returns the prices. The norms are smoothed at 0 by kSmoothedNorm.
inline constexpr double kSmoothedNorm = 1e-3;
template <class Real>
class PriceTerms {
 public:
  PriceTerms(const ParameterLayout& layout, const Prices& prices)
      : layout_(layout), prices_(prices), mean_(layout.shape.dimension()), norms_(layout.shape.features()) {}
  double add(const Real* parameters, Real* gradient);

 private:
  double add_decay(const Real* parameters, Real* gradient);
  double add_feature_price(const Real* parameters, Real* gradient);

  const ParameterLayout& layout_;
  Prices prices_;
  VectorOf<Real> mean_, norms_;
};

}  // namespace bregmax::internal
