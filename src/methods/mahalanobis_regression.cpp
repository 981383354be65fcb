#include <algorithm>
#include <cmath>

#include "bregmax/divergence/mahalanobis.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/methods.hpp"
#include "methods/whitened_targets.hpp"

// The least squares fit of a Mahalanobis divergence to target values, over all positive semidefinite matrices M:
//
//   minimise  sum_t w_t (v_t^T M v_t - y_t)^2,   v_t = x_i - x_j
//
// by accelerated projected gradients on differences that are first whitened. The stationarity is the duality gap over
// the objective of M = 0: the bound is proved by multipliers made feasible, so it does not depend on the method. Where
// the differences do not span all features, M is 0 outside of their span.

namespace bregmax {
namespace {

using internal::TargetsFit;
using internal::WhitenedTargets;

// A bound on the curvature: the largest eigenvalue of the operator of the quadratic, from the largest whitened target.
double first_curvature(const WhitenedTargets& problem) {
  return 2 * problem.differences.rowwise().squaredNorm().maxCoeff();
}

Matrix project(const Matrix& metric) {
  return internal::spectral(internal::symmetrized(metric), [](double value) { return std::max(value, 0.0); });
}

// Beck and Teboulle's method with a step found by doubling the curvature, restarted where momentum leads uphill.
struct Descent {
  explicit Descent(const WhitenedTargets& targets)
      : problem(targets), metric(Matrix::Zero(targets.rank(), targets.rank())), ahead(metric) {
    // A hundredth of a curvature that is always enough: steps start long and are shortened where that fails.
    curvature = std::max(first_curvature(targets) / 100, 1e-300);
    current = problem.measure(metric);
    ahead_fit = current;
  }

  void step() {
    Matrix next;
    TargetsFit next_fit;
    while (true) {
      next = project(ahead - ahead_fit.slope / curvature);
      next_fit = problem.measure(next);
      const Matrix move = next - ahead;
      const double model =
          ahead_fit.objective + ahead_fit.slope.cwiseProduct(move).sum() + 0.5 * curvature * move.squaredNorm();
      const double rounding = 1e-14 * problem.zero_objective();
      if (next_fit.objective <= model + rounding || curvature > 1e6 * first_curvature(problem)) break;
      curvature *= 2;
    }
    if (next_fit.objective > current.objective && momentum > 1) {  // restart from the best point
      momentum = 1;
      ahead = metric;
      ahead_fit = current;
      return;
    }
    const double next_momentum = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    ahead = next + (momentum - 1) / next_momentum * (next - metric);
    momentum = next_momentum;
    metric = std::move(next);
    current = std::move(next_fit);
    ahead_fit = problem.measure(ahead);
  }

  const WhitenedTargets& problem;
  Matrix metric, ahead;
  TargetsFit current, ahead_fit;
  double curvature = 1, momentum = 1;
};

Learned learn_mahalanobis(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                          const RunControl& control) {
  const internal::IterationWatch watch(choices.limits, control);
  const WhitenedTargets problem(rows, std::get<Targets>(supervision));
  const double scale = problem.zero_objective();
  MethodReport report = watch.report(0, scale, 0);
  Matrix metric = Matrix::Zero(rows.cols(), rows.cols());
  if (problem.rank() == 0 || scale == 0) {  // nothing that M could change, or M = 0 fits
    report.status = Status::kConverged;
  } else {
    Descent descent(problem);
    double bound = 0;
    const auto measure = [&] {
      const double objective = descent.current.objective;
      bound = std::max(bound, problem.lower_bound(descent.current));
      return internal::IterationWatch::Measure{objective, std::max(0.0, objective - bound) / scale};
    };
    report = watch.run(measure, [&] {
      descent.step();
      return true;
    });
    metric = internal::product_transposed(internal::product(problem.whitening, descent.metric), problem.whitening);
  }
  return {std::make_shared<Mahalanobis>(internal::symmetrized(metric)), report};
}

}  // namespace

Method internal::mahalanobis_method() {
  return {.name = "mahalanobis",
          .summary = "least squares fit of a Mahalanobis divergence to target values",
          .from_targets = true,
          .parameters = {},
          .limits = {1e-8, 100'000, 0},
          .learn = learn_mahalanobis,
          .predicted_seconds = [](const FitSize& size, const MethodChoices&) {
            return 8e-8 * size.items * size.features * size.features;
          }};
}

}  // namespace bregmax
