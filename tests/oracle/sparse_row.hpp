#pragma once

#include <vector>

#include "core/double_double.hpp"

namespace bregmax::oracle {

using Number = internal::DoubleDouble;
using Numbers = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
using NumberMatrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A linear function of few among many unknowns, such as D of an entry. A column may be there twice.
struct SparseRow {
  std::vector<Eigen::Index> column;
  std::vector<Number> value;

  void add(Eigen::Index at_column, const Number& coefficient);
  void subtract(const SparseRow& other);
  Number times(const Numbers& x) const;
  // sum += factor * row
  void add_to(Numbers& sum, const Number& factor) const;
  // The lower triangle of matrix += weight * row' row
  void add_square_to(NumberMatrix& matrix, const Number& weight) const;
};

}  // namespace bregmax::oracle
