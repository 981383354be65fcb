#include "optimize/problem/divergence_grid.hpp"

namespace bregmax::internal {

void DivergenceGrid::set_constants(const double* z, const double* slopes) {
  const Eigen::Map<const Matrix> a(slopes, problem_.pieces, problem_.features);
  for (Index k = 0; k < problem_.pieces; ++k) {
    piece_constant_(k) = z[problem_.z_of_piece[k]] - a.row(k).dot(problem_.anchor.row(k));
  }
  for (Index l = 0; l < problem_.locations; ++l) {
    owner_value_(l) = z[problem_.z_of_owner[l]];
    if (!problem_.anchored[l]) {
      const Index o = problem_.owner[l];
      owner_value_(l) += a.row(o).dot(problem_.location.row(l) - problem_.anchor.row(o));
    }
  }
}

void DivergenceGrid::apply(const double* z, const double* slopes, double* values) {
  if (entries_.complete()) return apply_everywhere(z, slopes, values);
  set_constants(z, slopes);
  const Index features = problem_.features;
  for (Index k = 0; k < problem_.pieces; ++k) {
    const double* a = slopes + k * features;
    for (Index p = entries_.begin(k); p < entries_.begin(k + 1); ++p) {
      const Index l = entries_.location(p);
      const double* x = problem_.location.data() + l * features;
      double value = owner_value_(l) - piece_constant_(k);
      for (Index j = 0; j < features; ++j) value -= a[j] * x[j];
      values[p] = value;
    }
  }
}

void DivergenceGrid::apply_everywhere(const double* z, const double* slopes, double* grid) {
  set_constants(z, slopes);
  whole_.affine(slopes, piece_constant_, owner_value_, grid);
}

void DivergenceGrid::adjoint(const double* values, double* z_out, double* slopes_out) {
  entries_.complete() ? whole_.sum(values, slopes_out, row_sum_, column_sum_) : sum_members(values, slopes_out);
  Eigen::Map<Matrix> a(slopes_out, problem_.pieces, problem_.features);
  std::fill(z_out, z_out + problem_.z_count, 0.0);
  for (Index k = 0; k < problem_.pieces; ++k) {
    a.row(k) = row_sum_(k) * problem_.anchor.row(k) - a.row(k);
    z_out[problem_.z_of_piece[k]] -= row_sum_(k);
  }
  for (Index l = 0; l < problem_.locations; ++l) {
    z_out[problem_.z_of_owner[l]] += column_sum_(l);
    if (!problem_.anchored[l]) {
      const Index o = problem_.owner[l];
      a.row(o) += column_sum_(l) * (problem_.location.row(l) - problem_.anchor.row(o));
    }
  }
}

// Sums the rows and the columns of the set; slopes_out = values * locations.
void DivergenceGrid::sum_members(const double* values, double* slopes_out) {
  const Index features = problem_.features;
  column_sum_.setZero();
  std::fill(slopes_out, slopes_out + problem_.pieces * features, 0.0);
  for (Index k = 0; k < problem_.pieces; ++k) {
    double* a = slopes_out + k * features;
    double sum = 0;
    for (Index p = entries_.begin(k); p < entries_.begin(k + 1); ++p) {
      const Index l = entries_.location(p);
      const double* x = problem_.location.data() + l * features;
      for (Index j = 0; j < features; ++j) a[j] += values[p] * x[j];
      sum += values[p];
      column_sum_(l) += values[p];
    }
    row_sum_(k) = sum;
  }
}

}  // namespace bregmax::internal
