#include <algorithm>
#include <cmath>
#include <optional>

#include "bregmax/divergence/mahalanobis.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "methods/iteration_watch.hpp"
#include "methods/itml_newton.hpp"
#include "methods/methods.hpp"
#include "methods/parameters.hpp"
#include "methods/training_rows.hpp"

// Information-theoretic metric learning (Davis, Kulis, Jain, Sra and Dhillon 2007):
//
//   minimise    D_ld(A, A_0) + gamma sum_t w_t D_ld(xi_t, bound_t)
//   subject to  (x_i - x_j)^T A (x_i - x_j) <= xi_t   for similar pairs, bound_t = `upper`
//                                           >= xi_t   for dissimilar pairs, bound_t = `lower`
//
// with D_ld(X, Y) = tr(X Y^-1) - log det(X Y^-1) - d, by cyclic Bregman projections, each a rank-one update of A. Their
// gap falls by about the same factor in every sweep. If that predicts, after 20 sweeps, that Newton's method on the
// same objective would be faster, it takes over, unless there are too many pairs and features. An iteration is one
// projection onto every pair, or one Newton step. The stationarity is the duality gap over 1 + |objective|: for any A
// the best slacks are known, which gives the objective, and the multipliers are always feasible.
//
// Pairs of equal rows say nothing about A when they are similar and cannot be met when they are not: they are left out.

namespace bregmax {
namespace {

using internal::ItmlConstraints;
using internal::ItmlNewton;

// A_0^-1 is what the iterations need.
Matrix inverse_prior(const MatrixView& rows, bool inverse_covariance) {
  const Index features = rows.cols();
  if (!inverse_covariance) return Matrix::Identity(features, features);
  Matrix covariance = internal::covariance(internal::centered(rows));
  // Features without variance, or that depend on others, would have an infinite weight.
  const double floor = 1e-9 * std::max(covariance.diagonal().maxCoeff(), 1e-300);
  covariance.diagonal().array() += floor;
  return covariance;
}

// The bounds of similar and of dissimilar pairs: those that are given, or percentiles of the divergences under the
// prior of all pairs of different rows. Those of equal rows are left out: a bound must be > 0.
std::pair<double, double> bounds_of(const MatrixView& rows, const MethodChoices& choices, const Matrix& prior_inverse) {
  const double upper = choices.number("upper"), lower = choices.number("lower");
  if (upper != 0 && lower != 0) return {upper, lower};
  const Matrix prior = internal::PositiveDefinite(prior_inverse).inverse();
  const Matrix matrix = Mahalanobis(internal::symmetrized(prior)).matrix(rows, rows);
  const double rounding = 1e-13 * matrix.maxCoeff();
  std::vector<double> divergences;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (matrix(i, j) > rounding) divergences.push_back(matrix(i, j));
    }
  }
  const auto percentile = [&](const char* name) {
    if (divergences.empty()) return 1.0;
    const double at = choices.number(name) / 100 * static_cast<double>(divergences.size() - 1);
    const auto place = divergences.begin() + static_cast<std::ptrdiff_t>(std::lround(at));
    std::nth_element(divergences.begin(), place, divergences.end());
    return *place;
  };
  return {upper != 0 ? upper : percentile("upper-percentile"), lower != 0 ? lower : percentile("lower-percentile")};
}

ItmlConstraints make_constraints(const MatrixView& rows, Pairs pairs, const MethodChoices& choices,
                                 const Matrix& prior_inverse) {
  const auto [upper, lower] = bounds_of(rows, choices, prior_inverse);
  std::erase_if(pairs, [&](const Pair& pair) { return pair.weight == 0 || rows.row(pair.i) == rows.row(pair.j); });
  const auto size = static_cast<Index>(pairs.size());
  ItmlConstraints constraints{Matrix(size, rows.cols()), Vector(size), Vector(size), Vector(size)};
  Index at = 0;
  for (const Pair& pair : pairs) {
    constraints.differences.row(at) = rows.row(pair.i) - rows.row(pair.j);
    constraints.signs(at) = pair.similar ? 1 : -1;
    constraints.bounds(at) = pair.similar ? upper : lower;
    constraints.slack_prices(at++) = choices.number("gamma") * pair.weight;
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
        product_(prior_inverse.rows()),
        prior_log_det_(internal::PositiveDefinite(prior_inverse).log_determinant()) {
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

  // Computes A from the multipliers, so that the rounding errors of updates do not add up, and both objectives.
  bool refresh() {
    const Vector weights = constraints_.signs.cwiseProduct(multipliers_);
    Matrix inverse = prior_inverse_;
    inverse += internal::transposed_product(constraints_.differences, weights.asDiagonal() * constraints_.differences);
    const internal::PositiveDefinite factor(internal::symmetrized(inverse));
    if (!factor.succeeded()) return false;
    metric_ = internal::symmetrized(factor.inverse());
    const double log_det_ratio = prior_log_det_ - factor.log_determinant();  // log det(A A_0^-1)
    const double features = static_cast<double>(inverse.rows());
    objective_ = metric_.cwiseProduct(prior_inverse_).sum() - log_det_ratio - features;
    bound_ = -log_det_ratio;
    const Vector divergences =
        internal::product(constraints_.differences, metric_).cwiseProduct(constraints_.differences).rowwise().sum();
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
  const ItmlConstraints& constraints_;
  const Matrix& prior_inverse_;
  Vector multipliers_;
  Vector product_;
  double prior_log_det_;
  Matrix metric_;
  double objective_ = 0, bound_ = 0;
};

// Whether Newton's method would have been faster. After some sweeps of projections the gap falls by about the same
// factor in each, which predicts how many are left. Those that are done count, too: this bounds the time that is lost
// if the predictions stay too low.
bool newton_is_due(const std::vector<double>& gaps, const ItmlConstraints& constraints, double tolerance) {
  constexpr std::size_t kFirstSweeps = 20, kWindow = 5;  // sweeps over which the factor is measured
  constexpr double kNewtonSteps = 50, kCostInSweep = 4;
  if (gaps.size() < kFirstSweeps) return false;
  const double factor = gaps[gaps.size() - 1 - kWindow] / gaps.back();
  if (!(factor > 1)) return true;
  const double left = kWindow * std::log(gaps.back() / tolerance) / std::log(factor);
  // In multiplications. Those of a sweep take longer, since they wait for memory and for each other; a Newton step is
  // mostly one matrix product.
  const auto features = static_cast<double>(constraints.differences.cols());
  const double pairs = static_cast<double>(constraints.size()), entries = features * (features + 1) / 2;
  const double sweep = kCostInSweep * 4 * pairs * features * features;
  const double step = pairs * entries * std::min(pairs, entries);
  return static_cast<double>(gaps.size()) + left > kNewtonSteps * step / sweep;
}

Learned learn_itml(const MatrixView& rows, const MethodSupervision& supervision, const MethodChoices& choices,
                   const RunControl& control) {
  const internal::IterationWatch watch(choices.limits, control);
  const Matrix prior_inverse = inverse_prior(rows, choices.whole("prior") == 1);
  const ItmlConstraints constraints =
      make_constraints(rows, internal::pairs_of(supervision, choices), choices, prior_inverse);
  Projections projections(constraints, prior_inverse);
  const bool may_finish = ItmlNewton::suits(constraints);
  std::vector<double> gaps;  // after each sweep
  std::optional<ItmlNewton> newton;
  internal::BestPoint<Matrix> best;
  const auto see = [&](const auto& solver) { best.see(solver.metric(), solver.objective(), solver.bound()); };
  const auto gap = [&] { return best.gap() / (1 + best.objective); };
  see(projections);
  const auto iterate = [&] {
    if (newton) {
      const bool progress = newton->step();
      if (progress) see(*newton);
      return progress;
    }
    projections.sweep();
    const bool progress = projections.refresh();
    if (progress) see(projections);
    gaps.push_back(gap());
    if (!may_finish || (progress && !newton_is_due(gaps, constraints, choices.limits.tolerance))) return progress;
    newton.emplace(constraints, prior_inverse, best.at, best.objective - best.bound);
    return true;
  };
  const MethodReport report = watch.run(
      [&] {
        return internal::IterationWatch::Measure{best.objective, gap()};
      },
      iterate);
  return {std::make_shared<Mahalanobis>(best.at), report};
}

}  // namespace

Method internal::itml_method() {
  return {.name = "itml",
          .summary = "information-theoretic metric learning: a LogDet prior and bounds on the divergences of pairs",
          .from_labels = true,
          .from_pairs = true,
          .parameters = {tuned(real_parameter("gamma", "price of the slack of a bound", 1, kPositive,
                                              {1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4})),
                         choice_parameter("prior", "the matrix that is stayed close to",
                                          {"identity", "inverse-covariance"}),
                         constraints_parameter(),
                         real_parameter("upper-percentile",
                                        "of all divergences under the prior: the bound of similar pairs", 5, {0, 100}),
                         real_parameter("lower-percentile", "the same for the bound of dissimilar pairs", 95, {0, 100}),
                         real_parameter("upper", "the bound of similar pairs itself; 0: the percentile", 0),
                         real_parameter("lower", "the bound of dissimilar pairs itself; 0: the percentile", 0)},
          .limits = {1e-6, 10'000, 0},
          .learn = learn_itml,
          .predicted_seconds = [](const FitSize& size, const MethodChoices&) {
            constexpr double kPairsFromLabels = 200;
            const double pairs = size.items > 0 ? size.items : kPairsFromLabels;
            return 2e-9 * size.rows * size.rows * size.features + 1e-7 * pairs * size.features * size.features;
          }};
}

}  // namespace bregmax
