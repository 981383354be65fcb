#include "bregmax/divergence/mahalanobis.hpp"

#include <algorithm>

#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "divergence/checks.hpp"

namespace bregmax {

Mahalanobis::Mahalanobis(Matrix matrix) : metric_(std::move(matrix)) {
  internal::require(metric_.rows() > 0 && metric_.rows() == metric_.cols(),
                    "the Mahalanobis matrix is {} x {}; allowed: square, at least 1 x 1", metric_.rows(),
                    metric_.cols());
  internal::check_parameters(metric_, "the Mahalanobis matrix");
  const double asymmetry = (metric_ - metric_.transpose()).cwiseAbs().maxCoeff();
  internal::require(asymmetry <= 1e-9 * metric_.cwiseAbs().maxCoeff(),
                    "the Mahalanobis matrix is not symmetric: entries differ by {}", asymmetry);
  if (asymmetry > 0) metric_ = (0.5 * (metric_ + metric_.transpose())).eval();
  const Vector eigenvalues = internal::symmetric_eigenvalues(metric_);
  const double smallest = eigenvalues.minCoeff(), largest = eigenvalues.cwiseAbs().maxCoeff();
  internal::require(smallest >= -1e-10 * largest,
                    "the Mahalanobis matrix has the eigenvalue {}; allowed: positive semidefinite", smallest);
}

double Mahalanobis::generator(const VectorView& point) const { return std::max(0.0, point.dot(metric_ * point)); }

void Mahalanobis::gradient(const VectorView& reference, VectorSpan out) const {
  out = 2 * internal::apply(metric_, reference);
}

double Mahalanobis::divergence(const VectorView& point, const VectorView& reference) const {
  return generator(point - reference);
}

}  // namespace bregmax
