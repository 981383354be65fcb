#include "baselines/cutting_plane_master.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "baselines/symmetric.hpp"
#include "core/blas.hpp"

namespace bregmax::internal {
namespace {

using SquareView = Eigen::Map<const Matrix>;

// The upper triangle, its entries off the diagonal times the root of 2: inner products are those of the matrices.
void pack(const Matrix& symmetric, double* out) {
  const double root = std::sqrt(2.0);
  for (Index i = 0; i < symmetric.rows(); ++i) {
    *out++ = symmetric(i, i);
    for (Index j = i + 1; j < symmetric.cols(); ++j) *out++ = root * symmetric(i, j);
  }
}

// L^-1 S L^-T for each slope S, packed; `traces` gets their traces.
Matrix seen_from(const Matrix& inverse_lower, const Matrix& slopes, Vector& traces) {
  const Index features = inverse_lower.rows(), count = slopes.rows();
  Matrix half(count * features, features);  // S L^-T, one below the other
  gemm(false, true, count * features, features, features, 1, slopes.data(), features, inverse_lower.data(), features, 0,
       half.data(), features);
  Matrix seen(count, features * (features + 1) / 2), whole(features, features);
  for (Index k = 0; k < count; ++k) {
    gemm(false, false, features, features, features, 1, inverse_lower.data(), features,
         half.data() + k * features * features, features, 0, whole.data(), features);
    traces(k) = whole.trace();
    pack(whole, seen.row(k).data());
  }
  return seen;
}

}  // namespace

CuttingPlaneMaster::CuttingPlaneMaster(Index features, double c)
    : features_(features), c_(c), slopes_(0, features * features), lower_(Matrix::Identity(features, features)) {}

void CuttingPlaneMaster::add(const RankingCut& cut) {
  // The new multiplier starts well inside: half of what keeps both Z and the sum of the multipliers feasible.
  const Matrix inverse_lower = invert_lower();
  const Matrix seen = symmetrized(inverse_lower * cut.slope * inverse_lower.transpose());
  const double largest = Eigen::SelfAdjointEigenSolver<Matrix>(seen, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
  double start = 0.5 * (c_ - multipliers_.sum());
  if (largest > 0) start = std::min(start, 0.5 / largest);
  const Index count = size();
  multipliers_.conservativeResize(count + 1);
  offsets_.conservativeResize(count + 1);
  slopes_.conservativeResize(count + 1, Eigen::NoChange);
  multipliers_(count) = start;
  offsets_(count) = cut.offset;
  slopes_.row(count) = Eigen::Map<const Eigen::RowVectorXd>(cut.slope.data(), cut.slope.size());
  factorize();
}

bool CuttingPlaneMaster::factorize() {
  const Eigen::RowVectorXd combined = multipliers_.transpose() * slopes_;
  const Matrix slack = Matrix::Identity(features_, features_) - SquareView(combined.data(), features_, features_);
  const Eigen::LLT<Matrix> factor(slack);
  if (factor.info() != Eigen::Success) return false;
  lower_ = factor.matrixL();
  return true;
}

// The barrier is self-concordant: a step of 1 / (1 + decrement) stays feasible, and close to the path a full one does.
bool CuttingPlaneMaster::newton_step(double mu, double& decrement) {
  const Index count = size();
  Vector traces(count);
  const Matrix seen = seen_from(invert_lower(), slopes_, traces);
  const double rest = c_ - multipliers_.sum();
  const Vector inverse = multipliers_.cwiseInverse();
  Vector gradient = offsets_ / mu - traces + inverse;
  gradient.array() -= 1 / rest;
  Matrix hessian(count, count);
  gemm(false, true, count, count, seen.cols(), 1, seen.data(), seen.cols(), seen.data(), seen.cols(), 0, hessian.data(),
       count);
  hessian.array() += 1 / (rest * rest);
  hessian.diagonal() += inverse.cwiseAbs2();
  // Scaled by the multipliers the matrix is of order one on its diagonal, whatever their sizes.
  const Matrix scaled = multipliers_.asDiagonal() * hessian * multipliers_.asDiagonal();
  const Eigen::LLT<Matrix> factor(symmetrized(scaled));
  if (factor.info() != Eigen::Success) return false;
  const Vector scaled_gradient = multipliers_.cwiseProduct(gradient);
  const Vector direction = multipliers_.cwiseProduct(factor.solve(scaled_gradient));
  decrement = std::sqrt(std::max(0.0, direction.dot(gradient)));
  const Vector before = multipliers_;
  double step = decrement < 0.25 ? 1 : 1 / (1 + decrement);
  for (int trial = 0; trial < 30; ++trial, step *= 0.5) {
    multipliers_ = before + step * direction;
    if (multipliers_.minCoeff() > 0 && multipliers_.sum() < c_ && factorize()) return true;
  }
  multipliers_ = before;
  factorize();
  return false;
}

bool CuttingPlaneMaster::center(double mu) {
  mu_ = mu;
  constexpr int kMostSteps = 200;
  double decrement = 1;
  for (int step = 0; step < kMostSteps && decrement > 0.1; ++step) {
    if (!newton_step(mu, decrement)) return false;
  }
  return decrement <= 0.1;
}

Matrix CuttingPlaneMaster::invert_lower() const {
  return lower_.triangularView<Eigen::Lower>().solve(Matrix::Identity(features_, features_));
}

Matrix CuttingPlaneMaster::metric() const {
  const Matrix inverse = invert_lower();
  return symmetrized(mu_ * inverse.transpose() * inverse);
}

double CuttingPlaneMaster::lower_bound() const { return multipliers_.dot(offsets_); }

}  // namespace bregmax::internal
