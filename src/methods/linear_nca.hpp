#pragma once

#include "bregmax/methods/learned.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/neighbour_softmax.hpp"

namespace bregmax::internal {

// The rows as coordinates that a matrix A is learned on, in the order of their classes.
struct LinearNcaProblem {
  Matrix coordinates;  // rows x coordinates
  ClassOfRow ordered_classes;
  bool diagonal = false;
};

// -F(A) and its gradient. The variables are A row by row, or its diagonal.
class LinearNcaObjective {
 public:
  LinearNcaObjective(const LinearNcaProblem& problem, Index components);

  double evaluate(const Vector& variables, VectorSpan gradient);
  // Of the embedded rows of the last evaluate(): the median squared distance from a row to its nearest other row.
  double median_nearest_distance() const;
  Vector variables_of(const Matrix& transform) const;
  Matrix transform_of(const Vector& variables) const;

 private:
  const LinearNcaProblem& problem_;
  Index components_;
  NeighbourSoftmax softmax_;
  Matrix embedded_, embedded_gradient_;
};

struct LinearNcaSolution {
  Matrix transform;
  MethodReport report;
};

// From `start` (components x coordinates; a diagonal matrix for the diagonal form) to a stationary point. Where the
// start leaves the median row without a neighbour within distance 1, the probabilities are all 0 or 1 and hardly change
// with A; the start is then scaled down to give it one. The result is never worse than the start that was given.
LinearNcaSolution solve_linear_nca(const LinearNcaProblem& problem, const Matrix& start, const MethodLimits& limits,
                                   const IterationWatch& watch);

}  // namespace bregmax::internal
