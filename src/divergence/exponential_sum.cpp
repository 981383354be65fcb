#include "bregmax/divergence/exponential_sum.hpp"

#include "core/products.hpp"
#include "divergence/checks.hpp"
#include "divergence/excess.hpp"

namespace bregmax {

constexpr double kLargestProduct = 300;  // exp of it, times any entry, is still finite

ExponentialSum::ExponentialSum(Matrix anchors, Vector weights)
    : anchors_(std::move(anchors)), weights_(std::move(weights)) {
  internal::require(anchors_.size() > 0, "anchors is {} x {}; allowed: at least one anchor and one feature",
                    anchors_.rows(), anchors_.cols());
  internal::require(weights_.size() == anchors_.rows(), "there are {} weights for {} anchors; allowed: one per anchor",
                    weights_.size(), anchors_.rows());
  internal::check_parameters(anchors_, "anchors");
  internal::check_parameters(internal::as_row(weights_), "weights");
  internal::require(weights_.minCoeff() >= 0, "a weight is {}; allowed: >= 0", weights_.minCoeff());
}

double ExponentialSum::generator(const VectorView& point) const {
  return weights_.dot(internal::apply(anchors_, point).array().exp().matrix());
}

void ExponentialSum::gradient(const VectorView& reference, VectorSpan out) const {
  const Vector slopes = weights_.cwiseProduct(internal::apply(anchors_, reference).array().exp().matrix());
  out = internal::apply_transposed(anchors_, slopes);
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
  products.maxCoeff(&largest);
  internal::require(products(largest) <= kLargestProduct,
                    "{0} row {1} has the product {2} with anchor {3}; {4} takes {0}s with products <= {5}",
                    internal::role_name(role), row_number, products(largest), largest, name(), kLargestProduct);
}

}  // namespace bregmax
