#include "bregmax/methods/itml.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "core/symmetric.hpp"
#include "methods/checks.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/itml_newton.hpp"
#include "methods/label_pairs.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"

namespace bregmax {
namespace {

using internal::ItmlConstraints;
using internal::ItmlNewton;

void check_options(const ItmlOptions& options) {
  internal::check_positive(options.gamma, "gamma");
  internal::check_not_negative(options.upper, "the upper bound");
  internal::check_not_negative(options.lower, "the lower bound");
  for (const double percentile : {options.upper_percentile, options.lower_percentile}) {
    if (!(percentile >= 0 && percentile <= 100)) {
      throw Error(fmt::format("the percentile of a bound is {}; allowed: a number from 0 to 100", percentile));
    }
  }
  internal::check_limits(options.limits);
}

// A_0^-1 is what the iterations need.
Matrix inverse_prior(const MatrixView& rows, ItmlPrior prior) {
  const Index features = rows.cols();
  if (prior == ItmlPrior::kIdentity) return Matrix::Identity(features, features);
  const Matrix centered = rows.rowwise() - rows.colwise().mean();
  Matrix covariance = centered.transpose() * centered / static_cast<double>(rows.rows());
  // Features without variance, or that depend on others, would have an infinite weight.
  const double floor = 1e-9 * std::max(covariance.diagonal().maxCoeff(), 1e-300);
  covariance.diagonal().array() += floor;
  return covariance;
}

// The percentile of the divergences of all pairs of different rows, those of equal rows left out: a bound must be > 0.
double divergence_percentile(std::vector<double>& divergences, double percentile) {
  if (divergences.empty()) return 1;
  const double at = percentile / 100 * static_cast<double>(divergences.size() - 1);
  const auto place = divergences.begin() + static_cast<std::ptrdiff_t>(std::lround(at));
  std::nth_element(divergences.begin(), place, divergences.end());
  return *place;
}

std::vector<double> positive_divergences(const MatrixView& rows, const Matrix& prior) {
  const Matrix matrix = Mahalanobis(prior).matrix(rows, rows);
  const double rounding = 1e-13 * matrix.maxCoeff();
  std::vector<double> divergences;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (matrix(i, j) > rounding) divergences.push_back(matrix(i, j));
    }
  }
  return divergences;
}

ItmlConstraints make_constraints(const MatrixView& rows, const Pairs& pairs, double upper, double lower, double gamma) {
  const auto counts = [&](const Pair& pair) { return pair.weight > 0 && rows.row(pair.i) != rows.row(pair.j); };
  const auto size = static_cast<Index>(std::count_if(pairs.begin(), pairs.end(), counts));
  ItmlConstraints constraints{Matrix(size, rows.cols()), Vector(size), Vector(size), Vector(size)};
  Index at = 0;
  for (const Pair& pair : pairs) {
    if (!counts(pair)) continue;
    constraints.differences.row(at) = rows.row(pair.i) - rows.row(pair.j);
    constraints.signs(at) = pair.similar ? 1 : -1;
    constraints.bounds(at) = pair.similar ? upper : lower;
    constraints.slack_prices(at++) = gamma * pair.weight;
  }
  return constraints;
}

// The multipliers determine everything: A^-1 = A_0^-1 + sum_t sign_t multiplier_t v_t v_t^T, and
// 1 / slack_t = 1 / bound_t - sign_t multiplier_t / price_t.
class Projections {
 public:
  Projections(const ItmlConstraints& constraints, const Matrix& prior_inverse)
      : constraints_(constraints),
        prior_inverse_(prior_inverse),
        multipliers_(Vector::Zero(constraints.size())),
        product_(prior_inverse.rows()) {
    prior_log_det_ = log_det(prior_inverse);
    refresh();
  }

  // One projection onto each pair. Setting v^T A v equal to the slack, both moved by the same change of the multiplier,
  // is linear in 1 / v^T A v and 1 / slack.
  void sweep() {
    for (Index t = 0; t < constraints_.size(); ++t) {
      const auto difference = constraints_.differences.row(t).transpose();
      product_.noalias() = metric_ * difference;
      const double divergence = difference.dot(product_);
      if (!(divergence > 0)) continue;
      const double sign = constraints_.signs(t), price = constraints_.slack_prices(t);
      const double inverse_slack = 1 / constraints_.bounds(t) - sign * multipliers_(t) / price;
      const double wish = sign * (inverse_slack - 1 / divergence) * price / (1 + price);
      const double change = std::max(wish, -multipliers_(t));
      if (change == 0) continue;
      multipliers_(t) += change;
      const double factor = sign * change / (1 + sign * change * divergence);
      metric_.noalias() -= (factor * product_) * product_.transpose();
    }
  }

  // A anew from the multipliers, so that the rounding of many updates does not add up, and both objectives with it.
  bool refresh() {
    const Vector weights = constraints_.signs.cwiseProduct(multipliers_);
    Matrix inverse = prior_inverse_;
    inverse.noalias() += constraints_.differences.transpose() * weights.asDiagonal() * constraints_.differences;
    const Eigen::LLT<Matrix> factor(internal::symmetrized(inverse));
    if (factor.info() != Eigen::Success) return false;
    metric_ = internal::symmetrized(factor.solve(Matrix::Identity(inverse.rows(), inverse.rows())));
    const Matrix lower = factor.matrixL();
    const double log_det_ratio = prior_log_det_ - 2 * lower.diagonal().array().log().sum();  // log det(A A_0^-1)
    const double features = static_cast<double>(inverse.rows());
    objective_ = metric_.cwiseProduct(prior_inverse_).sum() - log_det_ratio - features;
    bound_ = -log_det_ratio;
    const Vector divergences =
        (constraints_.differences * metric_).cwiseProduct(constraints_.differences).rowwise().sum();
    for (Index t = 0; t < constraints_.size(); ++t) {
      const double ratio = divergences(t) / constraints_.bounds(t), sign = constraints_.signs(t);
      const double price = constraints_.slack_prices(t);
      if (sign * (ratio - 1) > 0) objective_ += price * internal::slack_divergence(ratio);
      bound_ += price * std::log(1 - sign * multipliers_(t) * constraints_.bounds(t) / price);
    }
    return std::isfinite(objective_) && std::isfinite(bound_);
  }

  double objective() const { return objective_; }
  double bound() const { return bound_; }
  const Matrix& metric() const { return metric_; }

 private:
  static double log_det(const Matrix& matrix) {
    const Matrix lower = Eigen::LLT<Matrix>(matrix).matrixL();
    return 2 * lower.diagonal().array().log().sum();
  }

  const ItmlConstraints& constraints_;
  const Matrix& prior_inverse_;
  Vector multipliers_;
  Vector product_;
  Matrix metric_;
  double prior_log_det_ = 0, objective_ = 0, bound_ = 0;
};

// The best metric and the best bound of a run.
struct Best {
  Matrix metric;
  double objective = 0, bound = 0;  // the objective is a sum of divergences, so 0 is a bound

  template <class Solver>
  void see(const Solver& solver) {
    if (metric.size() == 0 || solver.objective() < objective) {
      metric = solver.metric();
      objective = solver.objective();
    }
    bound = std::max(bound, solver.bound());
  }
  double gap() const { return std::max(0.0, objective - bound) / (1 + objective); }
};

// When Newton's method takes over from the projections. The gap of these falls, after a few sweeps, by about the same
// factor in each: what is left to do follows, and is weighed against what Newton's method takes from anywhere.
class Handover {
 public:
  Handover(const ItmlConstraints& constraints, double tolerance)
      : tolerance_(tolerance), sweeps_worth_newton_(sweeps_worth_newton(constraints)) {}

  // To be asked after each sweep, with the gap that it left.
  bool is_due(int sweeps, double gap) {
    gaps_.push_back(gap);
    if (sweeps < kFirstSweeps) return false;
    const double factor = gaps_[gaps_.size() - 1 - kWindow] / gap;
    if (!(factor > 1)) return true;
    const double left = kWindow * std::log(gap / tolerance_) / std::log(factor);
    return sweeps + left > sweeps_worth_newton_;
  }

 private:
  static constexpr int kFirstSweeps = 20;
  static constexpr int kWindow = 5;  // sweeps over which the factor is measured

  // In multiplications. Those of a sweep wait for memory and for each other; most of Newton's method's are one matrix
  // product a step.
  static double sweeps_worth_newton(const ItmlConstraints& constraints) {
    constexpr double kNewtonSteps = 50, kCostInSweep = 4;
    const double features = static_cast<double>(constraints.differences.cols());
    const double pairs = static_cast<double>(constraints.size()), entries = features * (features + 1) / 2;
    const double sweep = kCostInSweep * 4 * pairs * features * features;
    const double step = pairs * entries * std::min(pairs, entries);
    return kNewtonSteps * step / sweep;
  }

  double tolerance_, sweeps_worth_newton_;
  std::vector<double> gaps_;
};

ItmlConstraints prepare(const MatrixView& rows, const Pairs& pairs, const ItmlOptions& options,
                        const Matrix& prior_inverse) {
  double upper = options.upper, lower = options.lower;
  if (upper == 0 || lower == 0) {
    const Matrix prior = Eigen::LLT<Matrix>(prior_inverse).solve(Matrix::Identity(rows.cols(), rows.cols()));
    std::vector<double> divergences = positive_divergences(rows, internal::symmetrized(prior));
    if (upper == 0) upper = divergence_percentile(divergences, options.upper_percentile);
    if (lower == 0) lower = divergence_percentile(divergences, options.lower_percentile);
  }
  return make_constraints(rows, pairs, upper, lower, options.gamma);
}

}  // namespace

Learned learn_itml(const MatrixView& rows, const Pairs& pairs, const ItmlOptions& options, const RunControl& control) {
  internal::check_bounded_rows(rows);
  internal::check_pairs(pairs, rows.rows());
  check_options(options);
  const internal::IterationWatch watch(options.limits, control);
  const Matrix prior_inverse = inverse_prior(rows, options.prior);
  const ItmlConstraints constraints = prepare(rows, pairs, options, prior_inverse);
  Projections projections(constraints, prior_inverse);
  const bool may_finish = ItmlNewton::suits(constraints);
  Handover handover(constraints, options.limits.tolerance);
  std::optional<ItmlNewton> newton;
  Best best;
  best.see(projections);
  Learned learned;
  MethodReport& report = learned.report;
  for (int iteration = 0;; ++iteration) {
    report.iterations = iteration;
    const auto end = watch.end_after(iteration, best.objective, best.gap());
    if (end) {
      report.status = *end;
      break;
    }
    bool progress = true;
    if (newton) {
      progress = newton->step();
      if (progress) best.see(*newton);
    } else {
      projections.sweep();
      progress = projections.refresh();
      if (progress) best.see(projections);
      if (may_finish && (!progress || handover.is_due(iteration + 1, best.gap()))) {
        newton.emplace(constraints, prior_inverse, best.metric, best.objective - best.bound);
        progress = true;
      }
    }
    if (!progress) break;  // the status remains a numerical error
  }
  report.objective = best.objective;
  report.stationarity = best.gap();
  learned.divergence = std::make_shared<Mahalanobis>(best.metric);
  report.seconds = watch.seconds();
  return learned;
}

Method internal::itml_method() {
  Method method;
  method.name = "itml";
  method.summary = "information-theoretic metric learning: a LogDet prior and bounds on the divergences of pairs";
  method.from_labels = method.from_pairs = true;
  const ItmlOptions standard;
  method.parameters = {
      internal::tuned(internal::positive_parameter("gamma", "price of the slack of a bound", standard.gamma,
                                                   {1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4})),
      internal::choice_parameter("prior", "the matrix that is stayed close to", {"identity", "inverse-covariance"}),
      internal::constraints_parameter(),
      {.name = "upper-percentile",
       .help = "of all divergences under the prior: the bound of similar pairs",
       .standard = standard.upper_percentile,
       .high = 100},
      {.name = "lower-percentile",
       .help = "the same for the bound of dissimilar pairs",
       .standard = standard.lower_percentile,
       .high = 100},
      {.name = "upper", .help = "the bound of similar pairs itself; 0: the percentile"},
      {.name = "lower", .help = "the bound of dissimilar pairs itself; 0: the percentile"},
  };
  method.limits = standard.limits;
  method.learn = [](const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                    const RunControl& control) {
    ItmlOptions options;
    options.gamma = choices.number("gamma");
    options.prior = choices.whole("prior") == 0 ? ItmlPrior::kIdentity : ItmlPrior::kInverseCovariance;
    options.upper_percentile = choices.number("upper-percentile");
    options.lower_percentile = choices.number("lower-percentile");
    options.upper = choices.number("upper");
    options.lower = choices.number("lower");
    options.limits = choices.limits;
    return learn_itml(rows, pairs_of(supervision, choices.whole("constraints"), choices.seed), options, control);
  };
  return method;
}

}  // namespace bregmax
