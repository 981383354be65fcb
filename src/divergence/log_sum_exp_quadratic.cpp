#include "bregmax/divergence/log_sum_exp_quadratic.hpp"

#include <algorithm>
#include <cmath>

#include "core/blas.hpp"
#include "core/products.hpp"
#include "core/symmetric.hpp"
#include "divergence/checks.hpp"

namespace bregmax {

LogSumExpQuadratic::LogSumExpQuadratic(Matrix slopes, Vector offsets, double temperature, Matrix roots)
    : pieces_(std::move(slopes), std::move(offsets), temperature), roots_(std::move(roots)) {
  internal::require(roots_.cols() == pieces_.dimension(),
                    "the matrix of the quadratic part has {} columns; allowed: {}, the number of features",
                    roots_.cols(), pieces_.dimension());
  if (roots_.rows() > 0) internal::check_parameters(roots_, "the matrix of the quadratic part");
}

Vector LogSumExpQuadratic::feature_norms() const {
  const Matrix centred = slopes().rowwise() - slopes().colwise().mean();
  Vector squares = centred.colwise().squaredNorm().transpose();
  for (Index r = 0; r < roots_.rows(); ++r) squares += roots_.row(r).cwiseAbs2().transpose();
  return squares.cwiseSqrt();
}

double LogSumExpQuadratic::strong_convexity() const {
  if (roots_.rows() < dimension()) return 0;
  return 2 * std::max(0.0, internal::symmetric_eigenvalues(internal::transposed_product(roots_, roots_))(0));
}

// The Hessian of the pieces is the covariance of the slopes under the softmax, divided by T: at most a quarter of the
// squared distance of two slopes in any direction, and so at most the largest squared distance from their mean.
double LogSumExpQuadratic::smoothness() const {
  double quadratic = 0;
  if (roots_.rows() > 0) {
    quadratic = internal::symmetric_eigenvalues(internal::product_transposed(roots_, roots_)).tail(1)(0);
  }
  const double farthest = (slopes().rowwise() - slopes().colwise().mean()).rowwise().squaredNorm().maxCoeff();
  return 2 * quadratic + farthest / temperature();
}

double LogSumExpQuadratic::generator(const VectorView& point) const {
  return pieces_.generator(point) + internal::apply(roots_, point).squaredNorm();
}

void LogSumExpQuadratic::gradient(const VectorView& reference, VectorSpan out) const {
  pieces_.gradient(reference, out);
  out += 2 * internal::apply_transposed(roots_, internal::apply(roots_, reference));
}

double LogSumExpQuadratic::divergence(const VectorView& point, const VectorView& reference) const {
  return pieces_.divergence(point, reference) + internal::apply(roots_, point - reference).squaredNorm();
}

// A MatrixSpan is a view, passed by value as everywhere. NOLINTNEXTLINE(performance-unnecessary-value-param)
void LogSumExpQuadratic::gradients_of_block(const MatrixView& references, MatrixSpan out) const {
  pieces_.gradients_of_block(references, out);
  if (roots_.rows() == 0) return;  // BLAS refuses matrices without columns
  const Matrix projected = internal::product_transposed(references, roots_);
  internal::gemm(false, false, projected.rows(), dimension(), roots_.rows(), 2, projected.data(), projected.cols(),
                 roots_.data(), dimension(), 1, out.data(), out.outerStride());
}

void LogSumExpQuadratic::divergences_of_block(const MatrixView& points, const VectorView& reference,
                                              VectorSpan out) const {
  pieces_.divergences_of_block(points, reference, out);
  out += internal::product_transposed(points.rowwise() - reference.transpose(), roots_).rowwise().squaredNorm();
}

}  // namespace bregmax
