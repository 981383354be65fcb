#include "tasks/measured_rows.hpp"

#include "bregmax/divergence/smooth.hpp"

namespace bregmax::internal {

// For a smooth generator, with o the mean of the rows,
//   D(x, c) = D(x, o) - D(c, o) - <g(c) - g(o), x - c>:
// the generator tilted to be flat at o, so that its values are no larger than divergences are and little is lost when
// they cancel. Max-affine divergences are left to their own reference sets, which keep equal divergences exactly equal.
MeasuredRows::MeasuredRows(const Divergence& divergence, const Matrix& rows)
    : divergence_(divergence), rows_(rows), smooth_(dynamic_cast<const SmoothDivergence*>(&divergence) != nullptr) {
  if (!smooth_) return;
  origin_ = rows.colwise().mean();
  slope_at_origin_ = divergence.gradients(origin_);
  heights_ = divergence.rowwise(rows, origin_.replicate(rows.rows(), 1));
}

MeasuredRows::Centroids MeasuredRows::prepare(const MatrixView& centroids) const {
  if (!smooth_) return {divergence_.prepare(centroids), {}, {}};
  Centroids prepared{nullptr, divergence_.gradients(centroids), {}};
  prepared.slopes.rowwise() -= slope_at_origin_.row(0);
  prepared.heights = prepared.slopes.cwiseProduct(centroids).rowwise().sum() -
                     divergence_.rowwise(centroids, origin_.replicate(centroids.rows(), 1));
  return prepared;
}

void MeasuredRows::divergences(const Centroids& centroids, Index first, MatrixSpan out) const {
  const auto block = rows_.middleRows(first, out.rows());
  if (!smooth_) return centroids.set->divergences_from(block, out);
  out.noalias() = -block * centroids.slopes.transpose();
  out.colwise() += heights_.segment(first, out.rows());
  out.rowwise() += centroids.heights.transpose();
  out = out.cwiseMax(0.0);
}

}  // namespace bregmax::internal
