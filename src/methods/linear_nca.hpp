#pragma once

#include "bregmax/methods/learned.hpp"
#include "methods/iteration_watch.hpp"

namespace bregmax::internal {

// The rows as coordinates that a matrix is learned on, in the order of their classes (see order_by_class).
struct LinearNcaProblem {
  const Matrix& coordinates;  // rows x coordinates
  const ClassOfRow& ordered_classes;
  bool diagonal = false;
};

// -F(A) and its gradient. The variables are A row by row, or its diagonal.
class LinearNcaObjective {
 public:
  LinearNcaObjective(const LinearNcaProblem& problem, Index components);
  ~LinearNcaObjective();
  LinearNcaObjective(const LinearNcaObjective&) = delete;
  LinearNcaObjective& operator=(const LinearNcaObjective&) = delete;

  double evaluate(const Vector& variables, VectorSpan gradient);
  // Of the embedded rows of the last evaluate(): the median squared distance from a row to its nearest other row.
  double median_nearest_distance() const;
  Vector variables_of(const Matrix& transform) const;
  Matrix transform_of(const Vector& variables) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct LinearNcaSolution {
  Matrix transform;
  MethodReport report;
};

// From `start` (components x coordinates; a diagonal matrix for the diagonal form) to a stationary point.
LinearNcaSolution solve_linear_nca(const LinearNcaProblem& problem, const Matrix& start, const MethodLimits& limits,
                                   const IterationWatch& watch);

}  // namespace bregmax::internal
