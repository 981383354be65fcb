#pragma once

#include "core/simd.hpp"

namespace bregmax::internal {

// Compensated summation: as accurate as in double-double arithmetic, rounded once at the end (Ogita,
// Rump and Oishi, "Accurate sum and dot product", 2005). Before that rounding, the error of a sum of n products is at
// most (n 2^-53)^2 times the sum of their magnitudes.
class CompensatedSum {
 public:
  void add(double x);
  void add_product(double a, double b);
  void add_all(const double* x, Index size, Instructions use = best_instructions());
  // <x, a - b>, without rounding the difference to a double.
  void add_dot_difference(const double* x, const double* a, const double* b, Index size,
                          Instructions use = best_instructions());
  double value() const { return high_ + low_; }
  // The two parts of the sum.
  double high() const { return high_; }
  double low() const { return low_; }

 private:
  double high_ = 0, low_ = 0;
};

// A matrix of such sums. add_to_rows() adds factors[k] * x to each row k.
class CompensatedRows {
 public:
  CompensatedRows(Index rows, Index columns) : high_(Matrix::Zero(rows, columns)), low_(Matrix::Zero(rows, columns)) {}

  void add_to_entry(Index row, Index column, double x);
  void add_to_row(Index row, double factor, const double* x, Instructions use = best_instructions());
  void add_to_rows(const double* factors, const double* x, Instructions use = best_instructions());
  double value(Index row, Index column) const { return high_(row, column) + low_(row, column); }
  Matrix values() const { return high_ + low_; }

 private:
  Matrix high_, low_;
};

}  // namespace bregmax::internal
