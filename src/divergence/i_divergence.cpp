#include "bregmax/divergence/i_divergence.hpp"

#include <cmath>

#include "divergence/domains.hpp"
#include "divergence/excess.hpp"

namespace bregmax {

double IDivergence::generator_term(double point) const { return internal::x_log_x(point); }

double IDivergence::derivative(double reference) const { return std::log(reference) + 1; }

double IDivergence::divergence_term(double point, double reference) const {
  return internal::i_divergence_term(point, reference);
}

void IDivergence::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  internal::check_entropy_domain(row, row_number, role, name());
}

}  // namespace bregmax
