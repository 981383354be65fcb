#include "oracle/sparse_row.hpp"

namespace bregmax::oracle {

void SparseRow::add(Eigen::Index at_column, const Number& coefficient) {
  column.push_back(at_column);
  value.push_back(coefficient);
}

void SparseRow::subtract(const SparseRow& other) {
  for (std::size_t c = 0; c < other.column.size(); ++c) add(other.column[c], -other.value[c]);
}

Number SparseRow::times(const Numbers& x) const {
  Number sum = 0;
  for (std::size_t c = 0; c < column.size(); ++c) sum += value[c] * x(column[c]);
  return sum;
}

void SparseRow::add_to(Numbers& sum, const Number& factor) const {
  for (std::size_t c = 0; c < column.size(); ++c) sum(column[c]) += factor * value[c];
}

void SparseRow::add_square_to(NumberMatrix& matrix, const Number& weight) const {
  for (std::size_t a = 0; a < column.size(); ++a) {
    const Number scaled = weight * value[a];
    for (std::size_t b = 0; b < column.size(); ++b) {
      if (column[b] <= column[a]) matrix(column[a], column[b]) += scaled * value[b];
    }
  }
}

}  // namespace bregmax::oracle
