#include "bregmax/divergence/divergence.hpp"

#include "divergence/checks.hpp"

namespace bregmax {

void Divergence::check(const MatrixView& rows, RowRole role) const {
  internal::check_rows(rows, dimension(), name(), role);
}

double Divergence::value(const VectorView& point, const VectorView& reference) const {
  check_points(internal::as_row(point));
  internal::check_rows(internal::as_row(reference), point.size(), name(), RowRole::kReference);
  check_references(internal::as_row(reference));
  return divergence(point, reference);
}

Matrix Divergence::matrix(const MatrixView& points, const MatrixView& references) const {
  Matrix out(points.rows(), references.rows());
  prepare(references)->divergences_from(points, out);
  return out;
}

Vector Divergence::rowwise(const MatrixView& points, const MatrixView& references) const {
  internal::require(points.rows() == references.rows(),
                    "there are {} points and {} references; row by row they must be as many", points.rows(),
                    references.rows());
  check_points(points);
  check_references(references);
  internal::check_rows(references, points.cols(), name(), RowRole::kReference);  // a divergence of any dimension
  Vector out(points.rows());
  const double work = static_cast<double>(points.size()) * 10;
#pragma omp parallel for schedule(static) if (work > internal::kWorkForThreads)
  for (Index i = 0; i < points.rows(); ++i) {
    out(i) = divergence(internal::row_vector(points, i), internal::row_vector(references, i));
  }
  return out;
}

}  // namespace bregmax
