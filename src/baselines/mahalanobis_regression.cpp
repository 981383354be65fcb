#include "bregmax/baselines/mahalanobis_regression.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "baselines/checks.hpp"
#include "baselines/iteration_watch.hpp"
#include "baselines/methods.hpp"
#include "baselines/symmetric.hpp"
#include "bregmax/divergence/mahalanobis.hpp"

namespace bregmax {
namespace {

// The problem in coordinates u = W^T v in which sum_t w_t u_t u_t^T is the identity: it is then well conditioned
// whatever the units and correlations of the features, and adding c w_t to the multipliers adds c I to the slope, which
// is what makes every set of multipliers feasible.
struct WhitenedTargets {
  Matrix whitening;    // d x r
  Matrix differences;  // targets x r
  Vector values;
  Vector weights;  // > 0

  Index rank() const { return differences.cols(); }
  double zero_objective() const { return weights.dot(values.cwiseAbs2()); }
};

WhitenedTargets whiten(const MatrixView& rows, const Targets& targets) {
  WhitenedTargets problem;
  const auto counted = std::count_if(targets.begin(), targets.end(), [](const Target& t) { return t.weight > 0; });
  Matrix differences(counted, rows.cols());
  problem.values.resize(counted);
  problem.weights.resize(counted);
  Index at = 0;
  for (const Target& target : targets) {
    if (target.weight == 0) continue;
    differences.row(at) = rows.row(target.i) - rows.row(target.j);
    problem.values(at) = target.value;
    problem.weights(at++) = target.weight;
  }
  const Matrix scatter = differences.transpose() * problem.weights.asDiagonal() * differences;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(scatter);
  const double smallest = 1e-12 * std::max(eigen.eigenvalues().maxCoeff(), 0.0);
  const Index rank = (eigen.eigenvalues().array() > smallest).count();
  const Vector scales = eigen.eigenvalues().tail(rank).cwiseSqrt().cwiseInverse();
  problem.whitening = eigen.eigenvectors().rightCols(rank) * scales.asDiagonal();
  problem.differences = differences * problem.whitening;
  return problem;
}

// Residuals, objective and slope at a matrix.
struct Fit {
  Vector residuals;
  Matrix slope;
  double objective = 0;
};

void measure(const WhitenedTargets& problem, const Matrix& metric, Fit& fit) {
  fit.residuals = (problem.differences * metric).cwiseProduct(problem.differences).rowwise().sum() - problem.values;
  fit.objective = problem.weights.dot(fit.residuals.cwiseAbs2());
  const Vector pull = 2 * problem.weights.cwiseProduct(fit.residuals);
  fit.slope = problem.differences.transpose() * pull.asDiagonal() * problem.differences;
}

// For multipliers u with sum_t u_t v_t v_t^T positive semidefinite, w r^2 >= u r - u^2 / (4 w) gives the bound
// -sum u^2 / (4 w) - sum u y on the objective of every M. The multipliers 2 w r are shifted to be feasible, then
// scaled.
double lower_bound(const WhitenedTargets& problem, const Fit& fit) {
  const double shift = std::max(0.0, -internal::smallest_eigenvalue(fit.slope));
  const Vector multipliers =
      problem.weights.cwiseProduct((2 * fit.residuals).array().matrix()) + shift * problem.weights;
  const double square = 0.25 * multipliers.cwiseAbs2().cwiseQuotient(problem.weights).sum();
  const double linear = -multipliers.dot(problem.values);
  if (!(square > 0) || linear <= 0) return 0;
  return linear * linear / (4 * square);
}

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
    measure(problem, metric, current);
    ahead_fit = current;
  }

  void step() {
    Matrix next;
    Fit next_fit;
    while (true) {
      next = project(ahead - ahead_fit.slope / curvature);
      measure(problem, next, next_fit);
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
    measure(problem, ahead, ahead_fit);
  }

  const WhitenedTargets& problem;
  Matrix metric, ahead;
  Fit current, ahead_fit;
  double curvature = 1, momentum = 1;
};

}  // namespace

LearnedMetric learn_mahalanobis_regression(const MatrixView& rows, const Targets& targets,
                                           const MahalanobisRegressionOptions& options, const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_targets(targets, rows.rows());
  internal::check_limits(options.limits);
  const internal::IterationWatch watch(options.limits, control);
  const WhitenedTargets problem = whiten(rows, targets);
  LearnedMetric learned;
  learned.report.status = BaselineStatus::kConverged;
  Matrix metric = Matrix::Zero(rows.cols(), rows.cols());
  const double scale = problem.zero_objective();
  if (problem.rank() == 0 || scale == 0) {  // nothing that M could change, or M = 0 fits
    learned.report.objective = scale;
  } else {
    Descent descent(problem);
    double bound = 0;
    for (int iteration = 0;; ++iteration) {
      bound = std::max(bound, lower_bound(problem, descent.current));
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

BaselineMethod internal::mahalanobis_method() {
  BaselineMethod method;
  method.name = "mahalanobis";
  method.summary = "least squares fit of a Mahalanobis divergence to target values";
  method.from_targets = true;
  method.limits = MahalanobisRegressionOptions{}.limits;
  method.learn = [](const MatrixView& rows, const BaselineSupervision& supervision, const BaselineChoices& choices,
                    const RunControl& control) {
    return learn_mahalanobis_regression(rows, std::get<Targets>(supervision), {choices.limits}, control);
  };
  return method;
}

}  // namespace bregmax
