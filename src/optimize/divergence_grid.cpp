#include "optimize/divergence_grid.hpp"

#include "core/blas.hpp"

namespace bregmax::internal {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

DivergenceGrid::DivergenceGrid(const CanonicalProblem& problem)
    : problem_(problem),
      owner_value_(problem.locations),
      piece_constant_(problem.pieces),
      row_sum_(problem.pieces),
      column_sum_(problem.locations) {}

void DivergenceGrid::apply(const double* z, const double* slopes, double* grid) {
  const Index locations = problem_.locations, pieces = problem_.pieces, features = problem_.features;
  const Eigen::Map<const Matrix> a(slopes, pieces, features);
  gemm(false, true, pieces, locations, features, -1, slopes, features, problem_.location.data(), features, 0, grid,
       locations);
  for (Index k = 0; k < pieces; ++k) {
    piece_constant_(k) = z[problem_.z_of_piece[at(k)]] - a.row(k).dot(problem_.anchor.row(k));
  }
  for (Index l = 0; l < locations; ++l) {
    owner_value_(l) = z[problem_.z_of_owner[at(l)]];
    if (!problem_.anchored[at(l)]) {
      const Index o = problem_.owner[at(l)];
      owner_value_(l) += a.row(o).dot(problem_.location.row(l) - problem_.anchor.row(o));
    }
  }
#pragma omp parallel for schedule(static) if (pieces * locations > 100000)
  for (Index k = 0; k < pieces; ++k) {
    double* row = grid + k * locations;
    const double constant = piece_constant_(k);
    for (Index l = 0; l < locations; ++l) row[l] += owner_value_(l) - constant;
  }
}

void DivergenceGrid::adjoint(const double* grid, double* z_out, double* slopes_out) {
  const Index locations = problem_.locations, pieces = problem_.pieces, features = problem_.features;
  Eigen::Map<Matrix> a(slopes_out, pieces, features);
  gemm(false, false, pieces, features, locations, -1, grid, locations, problem_.location.data(), features, 0,
       slopes_out, features);
  column_sum_.setZero();
  for (Index k = 0; k < pieces; ++k) {
    const Eigen::Map<const Vector> row(grid + k * locations, locations);
    row_sum_(k) = row.sum();
    column_sum_ += row;
    a.row(k) += row_sum_(k) * problem_.anchor.row(k);
  }
  std::fill(z_out, z_out + problem_.z_count, 0.0);
  for (Index k = 0; k < pieces; ++k) z_out[problem_.z_of_piece[at(k)]] -= row_sum_(k);
  for (Index l = 0; l < locations; ++l) {
    z_out[problem_.z_of_owner[at(l)]] += column_sum_(l);
    if (!problem_.anchored[at(l)]) {
      const Index o = problem_.owner[at(l)];
      a.row(o) += column_sum_(l) * (problem_.location.row(l) - problem_.anchor.row(o));
    }
  }
}

}  // namespace bregmax::internal
