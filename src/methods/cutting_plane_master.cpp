#include "methods/cutting_plane_master.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/blas.hpp"
#include "core/symmetric.hpp"
#include "methods/packed_symmetric.hpp"

namespace bregmax::internal {
namespace {

using SquareView = Eigen::Map<const Matrix>;

constexpr double kOutside = -std::numeric_limits<double>::infinity();
// Shares that a new multiplier takes from the others: 1/2, 1/4, ... The first number of them is always tried, more
// only while none is feasible.
constexpr int kUsefulHalvings = 13, kMostHalvings = 1000;

// L^-1 S L^-T for each slope S, packed; `traces` gets their traces.
Matrix seen_from(const Matrix& inverse_lower, const Matrix& slopes, Vector& traces) {
  const Index features = inverse_lower.rows(), count = slopes.rows();
  Matrix half(count * features, features);  // S L^-T, one below the other
  gemm(false, true, count * features, features, features, 1, slopes.data(), features, inverse_lower.data(), features, 0,
       half.data(), features);
  Matrix seen(count, packed_size(features)), whole(features, features);
  for (Index k = 0; k < count; ++k) {
    gemm(false, false, features, features, features, 1, inverse_lower.data(), features,
         half.data() + k * features * features, features, 0, whole.data(), features);
    traces(k) = whole.trace();
    pack_symmetric(features, whole, seen.row(k).data());
  }
  return seen;
}

}  // namespace

CuttingPlaneMaster::CuttingPlaneMaster(Index features, double c)
    : features_(features), c_(c), slopes_(0, features * features), lower_(Matrix::Identity(features, features)) {}

void CuttingPlaneMaster::add(const RankingCut& cut) {
  const Index count = size();
  const Vector before = multipliers_;
  multipliers_.conservativeResize(count + 1);
  offsets_.conservativeResize(count + 1);
  slopes_.conservativeResize(count + 1, Eigen::NoChange);
  offsets_(count) = cut.offset;
  slopes_.row(count) = Eigen::Map<const Eigen::RowVectorXd>(cut.slope.data(), cut.slope.size());
  idle_.push_back(0);
  // The sum of the multipliers is next to its limit, so that the new one has to take from the others: as much as serves
  // the barrier function best.
  const double all = count == 0 ? c_ : before.sum();
  Vector best;
  double best_value = kOutside;
  for (int k = 1; k <= kMostHalvings && (best.size() == 0 || k <= kUsefulHalvings); ++k) {
    const double share = std::ldexp(1.0, -k);
    Vector trial(count + 1);
    trial << (1 - share) * before, share * all;
    const double value = move_to(trial);
    if (value > best_value) {
      best_value = value;
      best = trial;
    }
  }
  assert(best.size() > 0);  // a share that is small enough leaves Z a mix of what it was and the identity
  move_to(best);
}

double CuttingPlaneMaster::move_to(const Vector& multipliers) {
  multipliers_ = multipliers;
  const double rest = c_ - multipliers_.sum();
  if (!(multipliers_.minCoeff() > 0 && rest > 0)) return kOutside;
  const Eigen::RowVectorXd combined = multipliers_.transpose() * slopes_;
  const Matrix slack = Matrix::Identity(features_, features_) - SquareView(combined.data(), features_, features_);
  const Eigen::LLT<Matrix> factor(slack);
  if (factor.info() != Eigen::Success) return kOutside;
  lower_ = factor.matrixL();
  return multipliers_.dot(offsets_) / mu_ + 2 * lower_.diagonal().array().log().sum() +
         multipliers_.array().log().sum() + std::log(rest);
}

bool CuttingPlaneMaster::newton_step(double& decrement) {
  const Index count = size();
  Vector traces(count);
  const Matrix seen = seen_from(invert_lower(), slopes_, traces);
  const double rest = c_ - multipliers_.sum();
  const Vector inverse = multipliers_.cwiseInverse();
  Vector gradient = offsets_ / mu_ - traces + inverse;
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
  const double slope = std::max(0.0, direction.dot(gradient));
  decrement = std::sqrt(slope);
  const Vector before = multipliers_;
  const double value = move_to(before);
  // The barrier function is self-concordant: a step of 1 / (1 + decrement) stays inside and gains, a longer one may
  // gain more.
  const double safe = 1 / (1 + decrement);
  for (int k = 0; std::ldexp(1.0, -k) > safe; ++k) {
    const double step = std::ldexp(1.0, -k);
    if (move_to(before + step * direction) >= value + 0.1 * step * slope) return true;
  }
  for (int k = 0; k < kMostHalvings; ++k) {
    if (move_to(before + std::ldexp(safe, -k) * direction) > kOutside) return true;
  }
  move_to(before);
  return false;
}

bool CuttingPlaneMaster::center(double mu) {
  mu_ = mu;
  constexpr int kMostSteps = 200;
  double decrement = 1;
  for (int step = 0; step < kMostSteps && decrement > 0.1; ++step) {
    if (!newton_step(decrement)) return false;
  }
  return decrement <= 0.1;
}

void CuttingPlaneMaster::drop_idle() {
  constexpr double kNothing = 1e-2;  // relative to the largest multiplier
  constexpr int kPatience = 10;
  const double little = kNothing * multipliers_.maxCoeff();
  std::vector<Index> kept;
  for (Index k = 0; k < size(); ++k) {
    int& idle = idle_[static_cast<std::size_t>(k)];
    idle = multipliers_(k) < little ? idle + 1 : 0;
    if (idle < kPatience) kept.push_back(k);
  }
  if (static_cast<Index>(kept.size()) == size()) return;
  offsets_ = Vector(offsets_(kept));
  slopes_ = Matrix(slopes_(kept, Eigen::all));
  std::erase_if(idle_, [](int idle) { return idle >= kPatience; });
  // A slope may be indefinite, so that Z need not be positive definite without it. It is where the others are less.
  const Vector others = multipliers_(kept);
  constexpr double kLess = 0.98;
  for (double part = 1; move_to(part * others) == kOutside;) part *= kLess;
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
