#include "bregmax/theory/box.hpp"

#include <algorithm>
#include <limits>

#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "core/checks.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "theory/coordinate_generator.hpp"

namespace bregmax {
namespace {

Box around_the_uniform_distribution(Index dimension) {
  // The corner at which the last probability is smallest leaves it 1/(d+1) - d R.
  const double features = static_cast<double>(dimension + 1);
  return {Vector::Constant(dimension, 1 / features), 0.75 / (static_cast<double>(dimension) * features)};
}

Box around_the_identity(Index dimension) {
  const Index order = internal::symmetric_order(dimension);
  Vector center = Vector::Zero(dimension);
  for (Index i = 0, at = 0; i < order; at += order - i, ++i) center(at) = 1;
  return {center, 0.5 / static_cast<double>(order)};
}

constexpr Index kMostFeaturesToEnumerate = 20;  // 2^19 sign vectors up to their sign

void check_domain(bool inside, const Divergence& divergence, const Box& box, std::string_view rule) {
  internal::require(inside, "the box of radius {} leaves the domain of {}; allowed: boxes in which {}", box.radius,
                    divergence.name(), rule);
}

void check_positive(const Divergence& divergence, const Box& box) {
  check_domain(box.lower().minCoeff() > 0, divergence, box, "every coordinate is > 0");
}

// max_s s^T M s over sign vectors. Consecutive Gray codes differ in one sign, so each step costs one row of M.
double largest_over_signs(const Matrix& matrix) {
  const Index size = matrix.rows();
  Vector signs = Vector::Ones(size);
  Vector product = internal::apply(matrix, signs);
  double value = signs.dot(product), largest = value;
  for (std::uint64_t code = 1; code < (std::uint64_t{1} << (size - 1)); ++code) {
    const auto flipped = static_cast<Index>(__builtin_ctzll(code));
    // s -> s - 2 s_f e_f changes s^T M s by -4 s_f (M s)_f + 4 M_ff.
    value += 4 * (matrix(flipped, flipped) - signs(flipped) * product(flipped));
    product -= 2 * signs(flipped) * matrix.row(flipped).transpose();
    signs(flipped) = -signs(flipped);
    largest = std::max(largest, value);
  }
  return largest;
}

double smoothness_of(const Mahalanobis& mahalanobis) {
  const Matrix& metric = mahalanobis.metric();
  if (metric.rows() <= kMostFeaturesToEnumerate) return 2 * largest_over_signs(metric);
  const double largest_eigenvalue = internal::symmetric_eigenvalues(metric).maxCoeff();
  return 2 * std::min(metric.cwiseAbs().sum(), static_cast<double>(metric.rows()) * largest_eigenvalue);
}

// H = diag(1/u) + 11^T/(1 - sum u): over sign vectors the largest s^T H s is sum 1/u_i + d^2/(1 - sum u). It is convex
// in u, so the largest over the box is at a corner; among the corners with a given number of high coordinates, the
// best one raises those that lose least.
double smoothness_of(const KullbackLeibler& divergence, const Box& box) {
  check_positive(divergence, box);
  const double last_at_upper = 1 - box.upper().sum();
  check_domain(last_at_upper > 0, divergence, box, "the coordinates sum to less than 1");
  const Vector low = box.lower().cwiseInverse();
  Vector losses = low - box.upper().cwiseInverse();
  std::sort(losses.begin(), losses.end());
  const auto squared_dimension = static_cast<double>(box.dimension() * box.dimension());
  double terms = low.sum();
  double last = last_at_upper + 2 * box.radius * static_cast<double>(box.dimension());
  double largest = terms + squared_dimension / last;
  for (const double loss : losses) {
    terms -= loss;
    last -= 2 * box.radius;
    largest = std::max(largest, terms + squared_dimension / last);
  }
  return largest;
}

// s^T H s = tr((X^-1 S)^2) <= ||S||_F^2 / lambda_min(X)^2 with S a symmetric matrix of signs, ||S||_F = p; and a
// perturbation of entries up to R moves an eigenvalue by at most p R.
double smoothness_of(const LogDet& divergence, const Box& box) {
  const internal::CoordinateGenerator generator(divergence, box.dimension());
  const Index order = internal::symmetric_order(box.dimension());
  const Matrix flat = generator.features(box.center.transpose());
  const Eigen::Map<const Matrix> center(flat.data(), order, order);
  const double smallest = internal::symmetric_eigenvalues(center).minCoeff() - static_cast<double>(order) * box.radius;
  check_domain(smallest > 0, divergence, box,
               fmt::format("the smallest eigenvalue of the center is > {} radii, so that every matrix is positive "
                           "definite",
                           order));
  const double ratio = static_cast<double>(order) / smallest;
  return ratio * ratio;
}

// H is the covariance of the slopes under the softmax, over T; a random variable with range r has variance <= r^2/4.
double smoothness_of(const SmoothedMaxAffine& smoothed) {
  double widest = 0;
  for (Index k = 0; k < smoothed.pieces(); ++k) {
    for (Index l = 0; l < k; ++l) {
      widest = std::max(widest, (smoothed.slopes().row(k) - smoothed.slopes().row(l)).lpNorm<1>());
    }
  }
  return widest * widest / (4 * smoothed.temperature());
}

double smoothness_of(const AverageDivergence& average, const Box& box) {
  double sum = 0;
  for (Index i = 0; i < average.weights().size(); ++i) {
    // The box must lie in the member's domain even if the weight is 0.
    const double member = smoothness(*average.members()[i], box);
    if (average.weights()(i) > 0) sum += average.weights()(i) * member;
  }
  return sum;
}

}  // namespace

Box default_box(const Divergence& divergence, Index dimension) {
  const internal::CoordinateGenerator checked(divergence, dimension);
  switch (internal::chart_of(divergence)) {
    case internal::Chart::kSimplex:
      return around_the_uniform_distribution(dimension);
    case internal::Chart::kSymmetric:
      return around_the_identity(dimension);
    case internal::Chart::kIdentity:
      break;
  }
  Box box{Vector::Zero(dimension), 1};
  try {
    smoothness(divergence, box);
  } catch (const Error&) {
    // A generator (or a member of an average) that is defined for positive entries only.
    box = {Vector::Constant(dimension, 0.6), 0.5};
  }
  return box;
}

double smoothness(const Divergence& divergence, const Box& box) {
  internal::check_box(box);
  const internal::CoordinateGenerator checked(divergence, box.dimension());
  if (dynamic_cast<const SquaredEuclidean*>(&divergence) != nullptr) return 2 * static_cast<double>(box.dimension());
  if (dynamic_cast<const IDivergence*>(&divergence) != nullptr) {
    check_positive(divergence, box);
    return box.lower().cwiseInverse().sum();
  }
  if (dynamic_cast<const ItakuraSaito*>(&divergence) != nullptr) {
    check_positive(divergence, box);
    return box.lower().array().square().inverse().sum();
  }
  if (dynamic_cast<const Exponential*>(&divergence) != nullptr) {
    const Vector upper = box.upper();
    check_domain(upper.maxCoeff() <= 300, divergence, box, "every coordinate is at most 300");
    return upper.array().exp().sum();
  }
  if (const auto* kl = dynamic_cast<const KullbackLeibler*>(&divergence)) return smoothness_of(*kl, box);
  if (const auto* logdet = dynamic_cast<const LogDet*>(&divergence)) return smoothness_of(*logdet, box);
  if (const auto* mahalanobis = dynamic_cast<const Mahalanobis*>(&divergence)) return smoothness_of(*mahalanobis);
  if (const auto* smoothed = dynamic_cast<const SmoothedMaxAffine*>(&divergence)) return smoothness_of(*smoothed);
  if (const auto* average = dynamic_cast<const AverageDivergence*>(&divergence)) return smoothness_of(*average, box);
  if (const auto* max_affine = dynamic_cast<const MaxAffine*>(&divergence); max_affine && max_affine->pieces() == 1) {
    return 0;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace bregmax
