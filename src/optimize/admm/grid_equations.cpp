#include "optimize/admm/grid_equations.hpp"

#include "core/blas.hpp"

namespace bregmax::internal {

// Written out, with h_k = H_k^-1 x_k, s = sum z x, m = sum a / n and the multiplier b of sum z = 0:
//   a_k = H_k^-1 (s + n z_k x_k - q_k),   diagonal_k z_k = e_k + n <h_k, s> + n <x_k, m> - b,
// where q and e are what the wishes ask for. The definitions of s and m and sum z = 0 are the common equations.
void GridEquations::factor(double weight) {
  weight_ = weight;
  const Index d = points_.cols();
  const auto n = static_cast<double>(points_.rows());
  Matrix scatter = transposed_product(points_, points_);
  scatter.diagonal().array() += weight;
  inverse_ = PositiveDefinite(scatter).inverse();
  lifted_ = product(points_, inverse_);
  shrink_ = (1 + n * lifted_.cwiseProduct(points_).rowwise().sum().array()).inverse();
  diagonal_ = n * (1 + shrink_.array());  // 2 n - n^2 <x_k, h_k>, without cancellation

  const Matrix h = shrink_.asDiagonal() * lifted_;
  const Vector over = diagonal_.cwiseInverse();
  const Matrix weighted_points = over.asDiagonal() * points_, weighted_h = over.asDiagonal() * h;
  Matrix matrix = Matrix::Identity(2 * d + 1, 2 * d + 1);
  matrix.topLeftCorner(d, d) -= n * transposed_product(weighted_points, h);
  matrix.block(0, d, d, d) -= n * transposed_product(weighted_points, points_);
  matrix.block(0, 2 * d, d, 1) += weighted_points.colwise().sum().transpose();
  matrix.block(d, 0, d, d) -= inverse_ - transposed_product(lifted_, h);  // the mean of the H_k^-1
  matrix.block(d, 0, d, d) -= n * transposed_product(weighted_h, h);
  matrix.block(d, d, d, d) -= n * transposed_product(weighted_h, points_);
  matrix.block(d, 2 * d, d, 1) += weighted_h.colwise().sum().transpose();
  matrix.block(2 * d, 0, 1, d) = n * weighted_h.colwise().sum();
  matrix.block(2 * d, d, 1, d) = n * weighted_points.colwise().sum();
  matrix(2 * d, 2 * d) = -over.sum();
  common_.factor(matrix);
}

void GridEquations::solve(const Vector& of_piece, const Vector& of_point, const Matrix& weighted, const Matrix& wish,
                          Vector& z, Matrix& slopes) {
  const Index rows = points_.rows(), d = points_.cols();
  const auto n = static_cast<double>(rows);
  auto s = sums_.head(d), m = sums_.segment(d, d);
  right_.setZero();
  sums_.setZero();
  for (Index k = 0; k < rows; ++k) {
    pull_.row(k) = weighted.row(k) - of_piece(k) * points_.row(k) - weight_ * wish.row(k);  // q_k
    overlap_(k) = shrink_(k) * lifted_.row(k).dot(pull_.row(k));                            // <h_k, q_k>
    rest_(k) = of_point(k) - of_piece(k) - n * overlap_(k);                                 // e_k
    const double part = rest_(k) / diagonal_(k);
    right_.head(d) += part * points_.row(k).transpose();
    right_.segment(d, d) += (part * shrink_(k) + overlap_(k)) * lifted_.row(k).transpose();
    right_(2 * d) -= part;
    s += pull_.row(k).transpose() / n;
  }
  // H_k^-1 q_k = B^-1 q_k - n overlap_k B^-1 x_k, whose second part is in the sums above.
  for (Index i = 0; i < d; ++i) right_(d + i) -= inverse_.row(i).dot(s);
  sums_ = right_;
  common_.solve(sums_);

  for (Index k = 0; k < rows; ++k) {
    const double of_sums = n * shrink_(k) * lifted_.row(k).dot(s) + n * points_.row(k).dot(m);
    z(k) = (rest_(k) + of_sums - sums_(2 * d)) / diagonal_(k);
    pull_.row(k) = s.transpose() - pull_.row(k);
    // a_k = B^-1 pull + (n z_k - n <B^-1 x_k, pull>) h_k
    overlap_(k) = n * shrink_(k) * (z(k) - lifted_.row(k).dot(pull_.row(k)));
  }
  gemm(false, false, rows, d, d, 1, pull_.data(), d, inverse_.data(), d, 0, slopes.data(), d);
  for (Index k = 0; k < rows; ++k) slopes.row(k) += overlap_(k) * lifted_.row(k);
}

}  // namespace bregmax::internal
