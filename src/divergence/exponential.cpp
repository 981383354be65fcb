#include "bregmax/divergence/exponential.hpp"

#include <cmath>

#include "divergence/domains.hpp"
#include "divergence/excess.hpp"

namespace bregmax {

double Exponential::generator_term(double point) const { return std::exp(point); }

double Exponential::derivative(double reference) const { return std::exp(reference); }

double Exponential::divergence_term(double point, double reference) const {
  const double difference = point - reference;
  if (difference <= 1) return std::exp(reference) * internal::exp_excess(difference);
  // exp(difference) may overflow where exp(point) does not.
  return std::exp(point) - std::exp(reference) * (1 + difference);
}

void Exponential::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  internal::check_features(row, row_number, role, name(), "entries <= 300", [](double x) { return x <= 300; });
}

}  // namespace bregmax
