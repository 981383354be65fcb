#include "bregmax/divergence/kullback_leibler.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "divergence/checks.hpp"
#include "divergence/domains.hpp"
#include "divergence/excess.hpp"

namespace bregmax {

double KullbackLeibler::generator_term(double point) const { return internal::x_log_x(point); }

double KullbackLeibler::derivative(double reference) const { return std::log(reference) + 1; }

double KullbackLeibler::divergence_term(double point, double reference) const {
  return internal::i_divergence_term(point, reference);
}

void KullbackLeibler::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  internal::check_entropy_domain(row, row_number, role, name());
  if (!(std::abs(row.sum() - 1) <= 1e-6)) {
    throw Error(fmt::format("{} row {} sums to {}; kl takes probability vectors, which sum to 1 (to 1e-6)",
                            internal::role_name(role), row_number, row.sum()));
  }
}

}  // namespace bregmax
