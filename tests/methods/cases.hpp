#pragma once

#include "bregmax/core/random.hpp"
#include "methods/labelled_rows.hpp"

namespace bregmax {

inline Matrix normal_matrix(Random& random, Index rows, Index columns) {
  Matrix out(rows, columns);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
  return out;
}

// Classes at different means, features of different scale.
inline LabelledRows labelled_rows(Index count, Index features, int classes, std::uint64_t seed) {
  Random random(seed);
  LabelledRows data{normal_matrix(random, count, features), ClassOfRow(static_cast<std::size_t>(count))};
  const Matrix means = 1.5 * normal_matrix(random, classes, features);
  for (Index i = 0; i < count; ++i) {
    data.classes[static_cast<std::size_t>(i)] = static_cast<int>(i % classes);
    data.rows.row(i) += means.row(i % classes);
  }
  for (Index f = 0; f < features; ++f) data.rows.col(f) *= 1 + static_cast<double>(f);
  return data;
}

inline double square_form(const Matrix& metric, const Matrix& rows, Index i, Index j) {
  const Vector difference = rows.row(i) - rows.row(j);
  return difference.dot(metric * difference);
}

}  // namespace bregmax
