#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/blas.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/neighbour_softmax.hpp"
#include "optimize/gradient/lbfgs.hpp"

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
  LinearNcaObjective(const LinearNcaProblem& problem, Index components)
      : problem_(problem),
        components_(components),
        softmax_(problem.ordered_classes),
        embedded_(problem.coordinates.rows(), components) {}

  double evaluate(const Vector& variables, VectorSpan gradient) {
    const Matrix& x = problem_.coordinates;
    const Index rows = x.rows(), inner = x.cols();
    if (problem_.diagonal) {
      embedded_ = x.array().rowwise() * variables.transpose().array();
    } else {
      gemm(false, true, rows, components_, inner, 1, x.data(), inner, variables.data(), inner, 0, embedded_.data(),
           components_);
    }
    const double value = softmax_.evaluate(embedded_, embedded_gradient_);
    if (problem_.diagonal) {
      gradient = (embedded_gradient_.array() * x.array()).colwise().sum().transpose();
    } else {
      gemm(true, false, components_, inner, rows, 1, embedded_gradient_.data(), components_, x.data(), inner, 0,
           gradient.data(), inner);
    }
    return value;
  }

  // The median squared distance from an embedded row to its nearest other row, in the last evaluate().
  double median_nearest_distance() const {
    Vector distances = softmax_.nearest_distances();
    const auto middle = distances.begin() + distances.size() / 2;
    std::nth_element(distances.begin(), middle, distances.end());
    return *middle;
  }

  Vector variables_of(const Matrix& transform) const {
    if (problem_.diagonal) return transform.diagonal();
    return Eigen::Map<const Vector>(transform.data(), transform.size());
  }
  Matrix transform_of(const Vector& variables) const {
    if (problem_.diagonal) return variables.asDiagonal();
    return Eigen::Map<const Matrix>(variables.data(), components_, problem_.coordinates.cols());
  }

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
inline LinearNcaSolution solve_linear_nca(const LinearNcaProblem& problem, const Matrix& start,
                                          const MethodLimits& limits, const IterationWatch& watch) {
  LinearNcaObjective objective(problem, start.rows());
  const auto function = [&](const Vector& at, VectorSpan gradient) { return objective.evaluate(at, gradient); };
  const auto stationarity = [&](const LbfgsState& state) {
    return state.at.norm() * state.gradient.norm() / static_cast<double>(problem.coordinates.rows());
  };
  std::optional<Status> end;
  const auto after_step = [&](const LbfgsState& now) {
    end = watch.end_after(now.iterations, now.value, stationarity(now));
    return !end.has_value();
  };
  // Once neighbours are within reach, changing A by a tenth of itself changes who they are.
  const LbfgsOptions options{.max_iterations = std::numeric_limits<int>::max(), .first_step = 0.1};
  LbfgsState given;
  given.at = objective.variables_of(start);
  evaluate_start(function, given);
  LbfgsState state = given;
  if (const double nearest = objective.median_nearest_distance(); nearest > 1) {
    state = {};
    state.at = given.at / std::sqrt(nearest);
  }
  if (after_step(given)) minimise_lbfgs(function, options, after_step, state);
  if (state.evaluations == 0 || state.value > given.value) {
    const bool may_go_on = !end || *end == Status::kConverged;
    if (may_go_on) end.reset();  // it was that of another point
    given.iterations = state.iterations;
    state = std::move(given);
    if (may_go_on) minimise_lbfgs(function, options, after_step, state);
  }
  LinearNcaSolution solution{objective.transform_of(state.at),
                             watch.report(state.iterations, state.value, stationarity(state))};
  // A run without an end from the watch has stopped because rounding leaves no step that decreases the value.
  const bool converged = solution.report.stationarity <= limits.tolerance;
  solution.report.status = converged ? Status::kConverged : end.value_or(Status::kNumericalError);
  return solution;
}

}  // namespace bregmax::internal
