#include "bregmax/divergence/smoothed_max_affine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "divergence/checks.hpp"
#include "divergence/excess.hpp"

namespace bregmax {
namespace {

// T log sum_k exp(scores(k) / T) without overflow; leaves the terms, scaled by their largest, in `scores`.
double soft_maximum(Vector& scores, double temperature) {
  const double largest = scores.maxCoeff();
  scores = ((scores.array() - largest) / temperature).exp();
  return largest + temperature * std::log(scores.sum());
}

}  // namespace

SmoothedMaxAffine::SmoothedMaxAffine(Matrix slopes, Vector offsets, double temperature)
    : slopes_(std::move(slopes)), offsets_(std::move(offsets)), temperature_(temperature) {
  internal::check_pieces(slopes_, offsets_);
  if (!(temperature_ > 0 && temperature_ <= internal::kLargestEntry)) {
    throw Error(fmt::format("the temperature is {}; allowed: > 0 and finite (0 is max_affine)", temperature_));
  }
}

double SmoothedMaxAffine::generator(const VectorView& point) const {
  Vector scores = slopes_ * point + offsets_;
  return soft_maximum(scores, temperature_);
}

void SmoothedMaxAffine::gradient(const VectorView& reference, VectorSpan out) const {
  Vector scores = slopes_ * reference + offsets_;
  soft_maximum(scores, temperature_);
  out.noalias() = slopes_.transpose() * (scores / scores.sum());
}

// With q = q(reference) and v_k = <a_k - sum_j q_j a_j, point - reference>, D = T log sum_k q_k exp(v_k / T), in which
// sum_k q_k v_k = 0: a function of the difference of the rows alone. For small v / T that is
// T log(1 + sum_k q_k excess(v_k / T)) with every term >= 0; else it is a soft maximum, shifted by the largest term so
// that nothing overflows.
double SmoothedMaxAffine::divergence(const VectorView& point, const VectorView& reference) const {
  Vector scores = slopes_ * reference + offsets_;
  Vector weights = scores;
  const double height = soft_maximum(weights, temperature_);
  weights /= weights.sum();
  Vector growth = slopes_ * (point - reference);
  growth.array() -= weights.dot(growth);

  if (growth.cwiseAbs().maxCoeff() <= temperature_) {
    double sum = 0;
    for (Index k = 0; k < growth.size(); ++k) sum += weights(k) * internal::exp_excess(growth(k) / temperature_);
    return temperature_ * std::log1p(sum);
  }
  scores = (scores.array() - height) + growth.array();
  return std::max(0.0, soft_maximum(scores, temperature_));
}

}  // namespace bregmax
