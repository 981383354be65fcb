#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "bregmax/supervision/sample.hpp"
#include "optimize/problems.hpp"

namespace bregmax::test {

// Random rows on a circle, a third of it per class: neighbours are close, and comparisons couple them.
inline LearningProblem circle_problem(Index rows, Index comparisons, double lambda) {
  Random random(3);
  Matrix points(rows, 2);
  std::vector<int> classes;
  for (Index i = 0; i < rows; ++i) {
    const double angle = 6.283185307179586 * random.uniform();
    points.row(i) << std::cos(angle), std::sin(angle);
    classes.push_back(static_cast<int>(3 * angle / 6.2832));
  }
  return make_problem(std::move(points), sample_comparisons(classes, comparisons, 1), lambda);
}

}  // namespace bregmax::test
