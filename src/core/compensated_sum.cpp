// Compiled with -ffp-contract=off: the compiler must not fuse two roundings into one.

#include "core/compensated_sum.hpp"

namespace bregmax::internal {
namespace {

// The rounding error of sum = a + b (Knuth).
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

// high + low += factor * x, for each column.
BREGMAX_INLINE void add_scaled(double factor, const double* x, Index columns, double* high, double* low) {
  for (Index j = 0; j < columns; ++j) add_one(factor, x[j], high[j], low[j]);
}

BREGMAX_INLINE void add_to_all(const double* factors, const double* x, Index rows, Index columns, double* high,
                               double* low) {
  for (Index k = 0; k < rows; ++k) {
    if (factors[k] != 0) add_scaled(factors[k], x, columns, high + k * columns, low + k * columns);
  }
}

// Calls add(j, high, low) for every j, with four independent sums, so that the additions overlap.
template <class Add>
BREGMAX_INLINE void sum_by_lanes(Index size, const Add& add, CompensatedSum* out) {
  double high[kLanes] = {}, low[kLanes] = {};
  Index j = 0;
  for (; j + kLanes <= size; j += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) add(j + lane, high[lane], low[lane]);
  }
  for (Index lane = 0; j < size; ++j, ++lane) add(j, high[lane], low[lane]);
  for (const double part : high) out->add(part);
  out->add((low[0] + low[1]) + (low[2] + low[3]));
}

BREGMAX_INLINE void sum_all(const double* x, Index size, CompensatedSum* out) {
  const auto add = [=](Index j, double& high, double& low) BREGMAX_INLINE_LAMBDA { add_term(x[j], high, low); };
  sum_by_lanes(size, add, out);
}

// <x, a - b>: neither the difference nor a product is rounded.
BREGMAX_INLINE void dot_difference(const double* x, const double* a, const double* b, Index size, CompensatedSum* out) {
  const auto add = [=](Index j, double& high, double& low) BREGMAX_INLINE_LAMBDA {
    add_one(x[j], a[j], high, low);
    add_one(-x[j], b[j], high, low);
  };
  sum_by_lanes(size, add, out);
}

}  // namespace

void CompensatedSum::add(double x) { add_term(x, high_, low_); }

void CompensatedSum::add_product(double a, double b) { add_one(a, b, high_, low_); }

void CompensatedSum::add_all(const double* x, Index size, Instructions use) { dispatch<sum_all>(use, x, size, this); }

void CompensatedSum::add_dot_difference(const double* x, const double* a, const double* b, Index size,
                                        Instructions use) {
  dispatch<dot_difference>(use, x, a, b, size, this);
}

void CompensatedRows::add_to_entry(Index row, Index column, double x) {
  add_term(x, high_(row, column), low_(row, column));
}

void CompensatedRows::add_to_row(Index row, double factor, const double* x, Instructions use) {
  dispatch<add_scaled>(use, factor, x, high_.cols(), high_.row(row).data(), low_.row(row).data());
}

void CompensatedRows::add_to_rows(const double* factors, const double* x, Instructions use) {
  dispatch<add_to_all>(use, factors, x, high_.rows(), high_.cols(), high_.data(), low_.data());
}

}  // namespace bregmax::internal
