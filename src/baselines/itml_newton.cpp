#include "baselines/itml_newton.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <vector>

#include "baselines/symmetric.hpp"
#include "core/blas.hpp"

namespace bregmax::internal {
namespace {

double log_det(const Matrix& lower) { return 2 * lower.diagonal().array().log().sum(); }

// u u^T times a factor, as the entries of its upper triangle; those off the diagonal count twice in inner products.
void pack_square(const Eigen::Ref<const Eigen::RowVectorXd>& u, double factor, double* out) {
  const double root = std::sqrt(2.0);
  for (Index i = 0; i < u.size(); ++i) {
    *out++ = factor * u(i) * u(i);
    for (Index j = i + 1; j < u.size(); ++j) *out++ = factor * root * u(i) * u(j);
  }
}

Vector pack(const Matrix& symmetric) {
  const Index size = symmetric.rows();
  Vector out(size * (size + 1) / 2);
  Index at = 0;
  for (Index i = 0; i < size; ++i) {
    out(at++) = symmetric(i, i);
    for (Index j = i + 1; j < size; ++j) out(at++) = std::sqrt(2.0) * symmetric(i, j);
  }
  return out;
}

Matrix unpack(const Vector& packed, Index size) {
  Matrix out(size, size);
  Index at = 0;
  for (Index i = 0; i < size; ++i) {
    out(i, i) = packed(at++);
    for (Index j = i + 1; j < size; ++j) out(i, j) = out(j, i) = packed(at++) / std::sqrt(2.0);
  }
  return out;
}

// (I + S^T S)^-1 g, through the smaller of the two Gram matrices.
Vector solve_with_identity(const Matrix& s, const Vector& g) {
  const bool rows_are_fewer = s.rows() < s.cols();
  const Index size = rows_are_fewer ? s.rows() : s.cols(), inner = rows_are_fewer ? s.cols() : s.rows();
  if (size == 0) return g;
  Matrix gram(size, size);
  gemm(!rows_are_fewer, rows_are_fewer, size, size, inner, 1, s.data(), s.cols(), s.data(), s.cols(), 0, gram.data(),
       size);
  gram.diagonal().array() += 1;
  const Eigen::LLT<Matrix> factor(gram);
  if (!rows_are_fewer) return factor.solve(g);
  return g - s.transpose() * factor.solve(s * g);
}

}  // namespace

double slack_divergence(double ratio) { return ratio - 1 - std::log(ratio); }

bool ItmlNewton::suits(const ItmlConstraints& constraints) {
  const double features = static_cast<double>(constraints.differences.cols());
  const double entries = features * (features + 1) / 2, pairs = static_cast<double>(constraints.size());
  return std::min(entries, pairs) <= 2000 && entries * pairs <= 5e7;
}

ItmlNewton::ItmlNewton(const ItmlConstraints& constraints, const Matrix& prior_inverse, const Matrix& metric)
    : constraints_(constraints),
      prior_inverse_(prior_inverse),
      prior_log_det_(log_det(Eigen::LLT<Matrix>(prior_inverse).matrixL())) {
  if (constraints.size() > 0) price_scale_ = std::min(1.0, 1 / constraints.slack_prices.maxCoeff());
  measure(metric);
}

// Objective and slope at a metric; false, and nothing changes, where it is not positive definite.
bool ItmlNewton::measure(const Matrix& metric) {
  const Eigen::LLT<Matrix> factor(metric);
  if (factor.info() != Eigen::Success) return false;
  metric_ = metric;
  lower_ = factor.matrixL();
  seen_ = constraints_.differences * lower_;
  divergences_ = seen_.rowwise().squaredNorm();
  const Index features = metric.rows();
  const double from_prior =
      metric.cwiseProduct(prior_inverse_).sum() - log_det(lower_) - prior_log_det_ - static_cast<double>(features);
  double slack_costs = 0;
  Vector pulls = Vector::Zero(constraints_.size());
  for (Index t = 0; t < constraints_.size(); ++t) {
    const double ratio = divergences_(t) / constraints_.bounds(t), price = constraints_.slack_prices(t);
    if (constraints_.signs(t) * (ratio - 1) <= 0) continue;
    slack_costs += price * slack_divergence(ratio);
    pulls(t) = price_scale_ * price * (1 / constraints_.bounds(t) - 1 / divergences_(t));
  }
  objective_ = from_prior + slack_costs;
  stage_objective_ = from_prior + price_scale_ * slack_costs;
  slope_ = symmetrized(lower_.transpose() * prior_inverse_ * lower_ - Matrix::Identity(features, features) +
                       seen_.transpose() * pulls.asDiagonal() * seen_);
  return std::isfinite(objective_) && slope_.allFinite();
}

// With the multipliers of the slacks the dual objective is below the primal one by tr(G) - log det(I + G), G the slope.
double ItmlNewton::bound() const {
  if (price_scale_ < 1) return -std::numeric_limits<double>::infinity();
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(slope_, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(values.minCoeff() > -1)) return -std::numeric_limits<double>::infinity();
  return objective_ - (values.array() - values.array().log1p()).sum();
}

Matrix ItmlNewton::newton_direction() const {
  const Index features = metric_.rows();
  std::vector<Index> active;
  for (Index t = 0; t < constraints_.size(); ++t) {
    if (constraints_.signs(t) * (divergences_(t) - constraints_.bounds(t)) > 0) active.push_back(t);
  }
  Matrix curvature(static_cast<Index>(active.size()), features * (features + 1) / 2);
  for (Index a = 0; a < curvature.rows(); ++a) {
    const Index t = active[static_cast<std::size_t>(a)];
    const double factor = std::sqrt(price_scale_ * constraints_.slack_prices(t)) / divergences_(t);
    pack_square(seen_.row(t), factor, curvature.data() + a * curvature.cols());
  }
  return -unpack(solve_with_identity(curvature, pack(slope_)), features);
}

bool ItmlNewton::step() {
  const Matrix direction = newton_direction();
  const double descent = slope_.cwiseProduct(direction).sum(), before = stage_objective_;
  constexpr double kCloseEnough = 0.01;
  if (price_scale_ < 1 && descent > -kCloseEnough * (1 + before)) {
    price_scale_ = std::min(1.0, 4 * price_scale_);
    const Matrix unchanged = metric_;
    return measure(unchanged);
  }
  if (!(descent < 0)) return false;
  const Matrix lower = lower_, metric = metric_;
  const Matrix identity = Matrix::Identity(metric.rows(), metric.rows());
  double length = 1;
  for (int trial = 0; trial < 60; ++trial, length *= 0.5) {
    const Matrix next = symmetrized(lower * (identity + length * direction) * lower.transpose());
    if (measure(next) && stage_objective_ <= before + 1e-4 * length * descent) return true;
  }
  measure(metric);
  return false;
}

}  // namespace bregmax::internal
