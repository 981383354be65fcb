#pragma once

#include "bregmax/core/random.hpp"
#include "optimize/gradient/start.hpp"
#include "optimize/gradient/train.hpp"

namespace bregmax::test {

using internal::Item;
using internal::ParameterLayout;
using internal::TrainingItems;

// Rows of two classes that differ in the first feature, and comparisons of these rows by the square of that feature.
struct GradientProblem {
  Matrix rows;
  std::vector<int> classes;
  std::vector<Item> comparisons;

  explicit GradientProblem(Index count = 120, Index features = 3, std::uint64_t seed = 1) : rows(count, features) {
    Random random(seed);
    for (Index i = 0; i < count; ++i) {
      classes.push_back(static_cast<int>(i % 2));
      for (double& value : rows.row(i)) value = random.normal();
      rows(i, 0) += 3 * classes.back();
    }
    const auto far = [this](Index i, Index j) { return std::abs(rows(i, 0) - rows(j, 0)); };
    for (Index t = 0; t < 2 * count; ++t) {
      Comparison c{random.uniform_index(count), random.uniform_index(count), random.uniform_index(count),
                   random.uniform_index(count)};
      if (far(c.i, c.j) > far(c.k, c.l)) {
        std::swap(c.i, c.k);
        std::swap(c.j, c.l);
      }
      comparisons.push_back(internal::item_of(c));
    }
  }

  TrainingItems labelled() const { return {rows, classes}; }
  TrainingItems compared() const { return {rows, {}, {}, comparisons}; }
};

inline const ParameterLayout& smooth_layout() {
  static const ParameterLayout kLayout({{3}, Activation::kRelu, 8, 3});
  return kLayout;
}
inline const ParameterLayout& deep_layout() {
  static const ParameterLayout kLayout({{3, 16, 2}, Activation::kRelu, 8, 2});
  return kLayout;
}

inline Vector start_of(const ParameterLayout& layout, const GradientProblem& problem) {
  return internal::start_parameters(layout, problem.rows, Random(1));
}

}  // namespace bregmax::test
