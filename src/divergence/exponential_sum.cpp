#include "bregmax/divergence/exponential_sum.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "divergence/checks.hpp"
#include "divergence/excess.hpp"

namespace bregmax {
namespace {

constexpr double kLargestProduct = 300;  // exp of it, times any entry, is still finite

}  // namespace

ExponentialSum::ExponentialSum(Matrix anchors, Vector weights)
    : anchors_(std::move(anchors)), weights_(std::move(weights)) {
  if (anchors_.rows() == 0 || anchors_.cols() == 0) {
    throw Error(fmt::format("anchors is {} x {}; allowed: at least one anchor and one feature", anchors_.rows(),
                            anchors_.cols()));
  }
  if (weights_.size() != anchors_.rows()) {
    throw Error(
        fmt::format("there are {} weights for {} anchors; allowed: one per anchor", weights_.size(), anchors_.rows()));
  }
  internal::check_parameters(anchors_, "anchors");
  internal::check_parameters(internal::as_row(weights_), "weights");
  if (weights_.minCoeff() < 0) throw Error(fmt::format("a weight is {}; allowed: >= 0", weights_.minCoeff()));
}

double ExponentialSum::generator(const VectorView& point) const {
  return weights_.dot((anchors_ * point).array().exp().matrix());
}

void ExponentialSum::gradient(const VectorView& reference, VectorSpan out) const {
  const Vector slopes = weights_.cwiseProduct((anchors_ * reference).array().exp().matrix());
  out.noalias() = anchors_.transpose() * slopes;
}

double ExponentialSum::divergence(const VectorView& point, const VectorView& reference) const {
  double sum = 0;
  for (Index i = 0; i < weights_.size(); ++i) {
    const double at_reference = anchors_.row(i).dot(reference), difference = anchors_.row(i).dot(point - reference);
    sum += weights_(i) * internal::exp_excess(at_reference, at_reference + difference, difference);
  }
  return sum;
}

void ExponentialSum::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  const Vector products = anchors_ * row;
  Index largest = 0;
  if (products.maxCoeff(&largest) <= kLargestProduct) return;
  throw Error(fmt::format("{} row {} has the product {} with anchor {}; {} takes {}s with products <= {}",
                          internal::role_name(role), row_number, products(largest), largest, name(),
                          internal::role_name(role), kLargestProduct));
}

}  // namespace bregmax
