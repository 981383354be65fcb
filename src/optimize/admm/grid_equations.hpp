#pragma once

#include "bregmax/core/matrix.hpp"
#include "core/products.hpp"

namespace bregmax::internal {

// Block one of AdmmGrid: the z and slopes that minimise
//
//   sum_kl (z_l - z_k - <a_k, x_l - x_k> - v_kl)^2 + weight sum_k ||a_k - p_k||^2        with sum_k z_k = 0
//
// over all pieces k and points l, the points being centred. With one penalty for the whole grid, the block of a piece
// is H_k = sum_l (x_l - x_k)(x_l - x_k)' + weight = B + n x_k x_k' with one B for all. Eliminating the slopes leaves a
// matrix in z that is a diagonal plus terms through sum_k z_k x_k, sum_k a_k and one number: 2 d + 1 unknowns, which
// are solved for first. Nothing here is n x n, and a common penalty cancels.
class GridEquations {
 public:
  explicit GridEquations(const Matrix& points) : points_(points) {}  // n x d, centred; must outlive this

  void factor(double weight);
  // of_piece, of_point: row and column sums of v; weighted: row k is sum_l v_kl x_l; wish: the p_k.
  void solve(const Vector& of_piece, const Vector& of_point, const Matrix& weighted, const Matrix& wish, Vector& z,
             Matrix& slopes);

 private:
  const Matrix& points_;
  double weight_ = 0;
  Matrix inverse_;         // B^-1
  Matrix lifted_;          // rows B^-1 x_k
  Vector shrink_;          // 1 / (1 + n x_k' B^-1 x_k): H_k^-1 x_k = shrink_k B^-1 x_k
  Vector diagonal_;        // of the matrix in z
  LinearSystem common_;    // for sum z x, the mean of the slopes, and the multiplier of sum z = 0
  Matrix pull_ = points_;  // of each slope
  Vector overlap_ = Vector(points_.rows()), rest_ = overlap_, right_ = Vector(2 * points_.cols() + 1), sums_ = right_;
};

}  // namespace bregmax::internal
