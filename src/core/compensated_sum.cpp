// Compiled with -ffp-contract=off: what is written as two roundings has to be two.

#include "core/compensated_sum.hpp"

#include "core/simd.hpp"

namespace bregmax::internal {
namespace {

// The rounding error of sum, which is a + b rounded (Knuth).
BREGMAX_INLINE double rounding_error(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

BREGMAX_INLINE void add_term(double x, double& high, double& low) {
  const double sum = high + x;
  low += rounding_error(high, x, sum);
  high = sum;
}

BREGMAX_INLINE void add_one(double a, double b, double& high, double& low) {
  const double product = a * b, sum = high + product;
  low += rounding_error(high, product, sum) + __builtin_fma(a, b, -product);
  high = sum;
}

// Of each column: high + low += factor * x.
BREGMAX_INLINE void add_scaled(double factor, const double* x, Index columns, double* high, double* low) {
  for (Index j = 0; j < columns; ++j) add_one(factor, x[j], high[j], low[j]);
}

BREGMAX_INLINE void add_to_all(const double* factors, const double* x, Matrix& high, Matrix& low) {
  const Index columns = high.cols();
  double *h = high.data(), *l = low.data();
  for (Index k = 0; k < high.rows(); ++k) {
    if (factors[k] != 0) add_scaled(factors[k], x, columns, h + k * columns, l + k * columns);
  }
}

// <x, a - b>: neither the difference nor a product is rounded. Four sums, which do not wait for each other.
BREGMAX_INLINE void dot_difference(const double* x, const double* a, const double* b, Index size, CompensatedSum& out) {
  double high[kLanes] = {}, low[kLanes] = {};
  Index j = 0;
  for (; j + kLanes <= size; j += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      add_one(x[j + lane], a[j + lane], high[lane], low[lane]);
      add_one(-x[j + lane], b[j + lane], high[lane], low[lane]);
    }
  }
  for (Index lane = 0; j < size; ++j, ++lane) {
    add_one(x[j], a[j], high[lane], low[lane]);
    add_one(-x[j], b[j], high[lane], low[lane]);
  }
  for (const double part : high) out.add(part);
  out.add((low[0] + low[1]) + (low[2] + low[3]));
}

BREGMAX_INLINE void sum_all(const double* x, Index size, CompensatedSum& out) {
  double high[kLanes] = {}, low[kLanes] = {};
  Index j = 0;
  for (; j + kLanes <= size; j += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) add_term(x[j + lane], high[lane], low[lane]);
  }
  for (Index lane = 0; j < size; ++j, ++lane) add_term(x[j], high[lane], low[lane]);
  for (const double part : high) out.add(part);
  out.add((low[0] + low[1]) + (low[2] + low[3]));
}

#ifdef BREGMAX_AVX2
BREGMAX_AVX2 void sum_all_avx2(const double* x, Index size, CompensatedSum& out) { sum_all(x, size, out); }
BREGMAX_AVX2 void add_to_all_avx2(const double* factors, const double* x, Matrix& high, Matrix& low) {
  add_to_all(factors, x, high, low);
}
BREGMAX_AVX2 void add_scaled_avx2(double factor, const double* x, Index columns, double* high, double* low) {
  add_scaled(factor, x, columns, high, low);
}
BREGMAX_AVX2 void dot_difference_avx2(const double* x, const double* a, const double* b, Index size,
                                      CompensatedSum& out) {
  dot_difference(x, a, b, size, out);
}
#endif

}  // namespace

void CompensatedSum::add(double x) { add_term(x, high_, low_); }

void CompensatedSum::add_product(double a, double b) { add_one(a, b, high_, low_); }

void CompensatedSum::add_all(const double* x, Index size) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return sum_all_avx2(x, size, *this);
#endif
  sum_all(x, size, *this);
}

void CompensatedSum::add_dot_difference(const double* x, const double* a, const double* b, Index size) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return dot_difference_avx2(x, a, b, size, *this);
#endif
  dot_difference(x, a, b, size, *this);
}

void CompensatedRows::add_to_entry(Index row, Index column, double x) {
  add_term(x, high_(row, column), low_(row, column));
}

void CompensatedRows::add_to_row(Index row, double factor, const double* x) {
  double *high = high_.row(row).data(), *low = low_.row(row).data();
#ifdef BREGMAX_AVX2
  if (has_avx2()) return add_scaled_avx2(factor, x, high_.cols(), high, low);
#endif
  add_scaled(factor, x, high_.cols(), high, low);
}

void CompensatedRows::add_to_rows(const double* factors, const double* x) {
#ifdef BREGMAX_AVX2
  if (has_avx2()) return add_to_all_avx2(factors, x, high_, low_);
#endif
  add_to_all(factors, x, high_, low_);
}

}  // namespace bregmax::internal
