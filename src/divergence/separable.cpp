#include "bregmax/divergence/separable.hpp"

namespace bregmax {

double SeparableDivergence::generator(const VectorView& point) const {
  double sum = 0;
  for (Index i = 0; i < point.size(); ++i) sum += generator_term(point(i));
  return sum;
}

void SeparableDivergence::gradient(const VectorView& reference, VectorSpan out) const {
  for (Index i = 0; i < reference.size(); ++i) out(i) = derivative(reference(i));
}

double SeparableDivergence::divergence(const VectorView& point, const VectorView& reference) const {
  double sum = 0;
  for (Index i = 0; i < point.size(); ++i) sum += divergence_term(point(i), reference(i));
  return sum;
}

}  // namespace bregmax
