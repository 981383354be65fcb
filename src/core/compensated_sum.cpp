// Compiled with -ffp-contract=off: what is written as two roundings has to be two.

#include "core/compensated_sum.hpp"

#include <cmath>

#include "core/simd.hpp"

namespace bregmax::internal {
namespace {

// What sum, which is a + b rounded, lacks.
BREGMAX_INLINE double lacking(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

// Of each column: high + low += factor * x.
BREGMAX_INLINE void add_scaled(double factor, const double* x, Index columns, double* high, double* low) {
  for (Index j = 0; j < columns; ++j) {
    const double product = factor * x[j], sum = high[j] + product;
    low[j] += lacking(high[j], product, sum) + __builtin_fma(factor, x[j], -product);
    high[j] = sum;
  }
}

BREGMAX_INLINE void add_all(const double* factors, const double* x, Matrix& high, Matrix& low) {
  const Index columns = high.cols();
  double *h = high.data(), *l = low.data();
  for (Index k = 0; k < high.rows(); ++k) {
    if (factors[k] != 0) add_scaled(factors[k], x, columns, h + k * columns, l + k * columns);
  }
}

#ifdef BREGMAX_AVX2
BREGMAX_AVX2 void add_all_avx2(const double* factors, const double* x, Matrix& high, Matrix& low) {
  add_all(factors, x, high, low);
}
#endif

}  // namespace

void CompensatedSum::add(double x) {
  const double sum = high_ + x;
  low_ += lacking(high_, x, sum);
  high_ = sum;
}

void CompensatedSum::add_product(double a, double b) { add_scaled(a, &b, 1, &high_, &low_); }

void CompensatedSum::add_dot(double sign, const double* a, const double* b, Index size) {
  for (Index j = 0; j < size; ++j) add_product(sign * a[j], b[j]);
}

void CompensatedRows::add_to_row(Index row, double factor, const double* x) {
  add_scaled(factor, x, high_.cols(), high_.row(row).data(), low_.row(row).data());
}

void CompensatedRows::add_to_rows(const double* factors, const double* x) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return add_all_avx2(factors, x, high_, low_);
#endif
  add_all(factors, x, high_, low_);
}

}  // namespace bregmax::internal
