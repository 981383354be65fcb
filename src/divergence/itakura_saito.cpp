#include "bregmax/divergence/itakura_saito.hpp"

#include <cmath>

#include "divergence/domains.hpp"
#include "divergence/excess.hpp"

namespace bregmax {

double ItakuraSaito::generator_term(double point) const { return -std::log(point); }

double ItakuraSaito::derivative(double reference) const { return -1 / reference; }

double ItakuraSaito::divergence_term(double point, double reference) const {
  const double difference = point - reference;
  if (std::abs(difference) <= 0.1 * reference) return internal::log_excess(difference / reference);
  const double ratio = point / reference;
  return ratio - std::log(ratio) - 1;
}

void ItakuraSaito::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  internal::check_features(row, row_number, role, name(), "entries > 0 (at least 1e-100)",
                           [](double x) { return x >= 1e-100; });
}

}  // namespace bregmax
