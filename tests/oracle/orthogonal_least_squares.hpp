#pragma once

#include <Eigen/QR>

#include "core/double_double.hpp"

namespace bregmax::oracle {

using internal::DoubleDouble;

// The shortest z with J' z = b, by an orthogonal factorization of J in double-double arithmetic. Rows of J may differ
// by fifteen powers of ten and more: J' J, a sum of their squares, would lose the smaller ones.
class OrthogonalLeastSquares {
 public:
  using Numbers = Eigen::Matrix<DoubleDouble, Eigen::Dynamic, 1>;
  using Rows = Eigen::Matrix<DoubleDouble, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  // Columns may depend on each other. If J' z cannot be the target, it is as close as possible.
  void factor(const Rows& j);
  Numbers solve(const Numbers& target) const;

 private:
  Eigen::Index rows_ = 0;
  Numbers scale_;  // of the columns
  Eigen::HouseholderQR<Rows> factor_;
};

}  // namespace bregmax::oracle
