#include "methods/linear_nca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/blas.hpp"
#include "methods/lbfgs.hpp"

namespace bregmax::internal {
namespace {

double median(Vector values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double stationarity(const LbfgsState& state, Index rows) {
  return state.at.norm() * state.gradient.norm() / static_cast<double>(rows);
}

}  // namespace

LinearNcaObjective::LinearNcaObjective(const LinearNcaProblem& problem, Index components)
    : problem_(problem),
      components_(components),
      softmax_(problem.ordered_classes),
      embedded_(problem.coordinates.rows(), components) {}

double LinearNcaObjective::evaluate(const Vector& variables, VectorSpan gradient) {
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

Vector LinearNcaObjective::variables_of(const Matrix& transform) const {
  if (problem_.diagonal) return transform.diagonal();
  return Eigen::Map<const Vector>(transform.data(), transform.size());
}

Matrix LinearNcaObjective::transform_of(const Vector& variables) const {
  if (problem_.diagonal) return variables.asDiagonal();
  return Eigen::Map<const Matrix>(variables.data(), components_, problem_.coordinates.cols());
}

double LinearNcaObjective::median_nearest_distance() const { return median(softmax_.nearest_distances()); }

LinearNcaSolution solve_linear_nca(const LinearNcaProblem& problem, const Matrix& start, const MethodLimits& limits,
                                   const IterationWatch& watch) {
  const Index rows = problem.coordinates.rows();
  LinearNcaObjective objective(problem, start.rows());
  const auto function = [&](const Vector& at, VectorSpan gradient) { return objective.evaluate(at, gradient); };
  std::optional<Status> end;
  const auto after_step = [&](const LbfgsState& now) {
    end = watch.end_after(now.iterations, now.value, stationarity(now, rows));
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
    given.iterations = state.iterations;
    state = std::move(given);
    if (may_go_on) minimise_lbfgs(function, options, after_step, state);
  }
  LinearNcaSolution solution{objective.transform_of(state.at), {}};
  solution.report.objective = state.value;
  solution.report.stationarity = stationarity(state, rows);
  solution.report.iterations = state.iterations;
  solution.report.seconds = watch.seconds();
  // A run without an end from the watch has stopped because rounding leaves no step that decreases the value.
  const bool converged = solution.report.stationarity <= limits.tolerance;
  solution.report.status = converged ? Status::kConverged : end.value_or(Status::kNumericalError);
  return solution;
}

}  // namespace bregmax::internal
