#include "bregmax/methods/mahalanobis_regression.hpp"

#include <algorithm>
#include <cmath>

#include "bregmax/divergence/mahalanobis.hpp"
#include "core/symmetric.hpp"
#include "methods/checks.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/methods.hpp"
#include "methods/whitened_targets.hpp"

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

}  // namespace

Learned learn_mahalanobis_regression(const MatrixView& rows, const Targets& targets,
                                     const MahalanobisRegressionOptions& options, const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_targets(targets, rows.rows());
  internal::check_limits(options.limits);
  const internal::IterationWatch watch(options.limits, control);
  const WhitenedTargets problem(rows, targets);
  Learned learned;
  learned.report.status = Status::kConverged;
  Matrix metric = Matrix::Zero(rows.cols(), rows.cols());
  const double scale = problem.zero_objective();
  if (problem.rank() == 0 || scale == 0) {  // nothing that M could change, or M = 0 fits
    learned.report.objective = scale;
  } else {
    Descent descent(problem);
    double bound = 0;
    for (int iteration = 0;; ++iteration) {
      bound = std::max(bound, problem.lower_bound(descent.current));
      learned.report.iterations = iteration;
      learned.report.objective = descent.current.objective;
      learned.report.stationarity = std::max(0.0, descent.current.objective - bound) / scale;
      const auto end = watch.end_after(iteration, learned.report.objective, learned.report.stationarity);
      if (end) {
        learned.report.status = *end;
        break;
      }
      descent.step();
    }
    metric = problem.whitening * descent.metric * problem.whitening.transpose();
  }
  learned.divergence = std::make_shared<Mahalanobis>(internal::symmetrized(metric));
  learned.report.seconds = watch.seconds();
  return learned;
}

Method internal::mahalanobis_method() {
  Method method;
  method.name = "mahalanobis";
  method.summary = "least squares fit of a Mahalanobis divergence to target values";
  method.from_targets = true;
  method.limits = MahalanobisRegressionOptions{}.limits;
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl& control) {
    return learn_mahalanobis_regression(rows, std::get<Targets>(supervision), {choices.limits}, control);
  };
  return method;
}

}  // namespace bregmax
