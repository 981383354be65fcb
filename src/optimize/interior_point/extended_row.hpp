#pragma once

#include <vector>

#include "core/double_double.hpp"

namespace bregmax::internal {

using Number = DoubleDouble;
using Numbers = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
using NumberMatrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A linear function of many unknowns that sees few of them, such as D of an entry. A column may be there twice.
struct ExtendedRow {
  std::vector<Eigen::Index> column;
  std::vector<Number> value;

  void add(Eigen::Index at_column, const Number& coefficient);
  void subtract(const ExtendedRow& other);
  Number times(const Numbers& x) const;
  // sum += factor * row
  void add_to(Numbers& sum, const Number& factor) const;
  // The lower triangle of matrix += weight * row' row
  void add_square_to(NumberMatrix& matrix, const Number& weight) const;
};

}  // namespace bregmax::internal
