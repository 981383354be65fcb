#include "bregmax/divergence/divergence.hpp"

#include <fmt/format.h>

#include "bregmax/core/error.hpp"
#include "divergence/checks.hpp"

namespace bregmax {

Matrix Divergence::matrix(const MatrixView& points, const MatrixView& references) const {
  Matrix out(points.rows(), references.rows());
  matrix_into(points, references, out);
  return out;
}

void Divergence::matrix_into(const MatrixView& points, const MatrixView& references, MatrixSpan out) const {
  prepare(references)->divergences_from(points, out);
}

Vector Divergence::rowwise(const MatrixView& points, const MatrixView& references) const {
  if (points.rows() != references.rows()) {
    throw Error(fmt::format("there are {} points and {} references; row by row they must be as many", points.rows(),
                            references.rows()));
  }
  check_points(points);
  check_references(references);
  internal::check_rows(references, points.cols(), name(), RowRole::kReference);  // a divergence of any dimension
  Vector out(points.rows());
  const double work = static_cast<double>(points.size()) * 10;
#pragma omp parallel for schedule(static) if (work > internal::kWorkForThreads)
  for (Index i = 0; i < points.rows(); ++i) {
    out(i) = value(internal::row_vector(points, i), internal::row_vector(references, i));
  }
  return out;
}

}  // namespace bregmax
