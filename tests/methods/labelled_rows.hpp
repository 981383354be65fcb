#pragma once

#include "bregmax/core/random.hpp"
#include "bregmax/methods/learned.hpp"
#include "methods/neighbour_softmax.hpp"

namespace bregmax {

struct LabelledRows {
  Matrix rows;
  ClassOfRow classes;
};

// `classes` clouds whose centres differ in the first feature only; the other features are noise of the given size.
inline LabelledRows noisy_clouds(Index count, Index features, int classes, double noise, std::uint64_t seed) {
  Random random(seed);
  LabelledRows data{Matrix(count, features), ClassOfRow(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    const int row_class = static_cast<int>(i) % classes;
    data.classes[static_cast<std::size_t>(i)] = row_class;
    for (Index f = 0; f < features; ++f) data.rows(i, f) = (f == 0 ? 0.4 : noise) * random.normal();
    data.rows(i, 0) += 2 * row_class;
  }
  return data;
}

// The same rows in the order of their classes.
inline LabelledRows ordered(const LabelledRows& data) {
  const std::vector<Index> order = internal::order_by_class(data.classes);
  LabelledRows result{data.rows(order, Eigen::all), {}};
  for (const Index row : order) result.classes.push_back(data.classes[static_cast<std::size_t>(row)]);
  return result;
}

inline Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix out(rows, cols);
  for (double& x : out.reshaped()) x = random.normal();
  return out;
}

}  // namespace bregmax
