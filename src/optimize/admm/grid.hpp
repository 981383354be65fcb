#pragma once

#include "optimize/admm/grid_equations.hpp"
#include "optimize/admm/grid_passes.hpp"
#include "optimize/admm/norm.hpp"
#include "optimize/problem/canonical_problem.hpp"

namespace bregmax::internal {

// LabelPairs with one piece per row, in canonical units. Piece k is anchored at row k.
struct GridProblem : CanonicalUnits {
  explicit GridProblem(const LearningProblem& problem);

  Matrix point_features;  // kept features x n: a feature of all rows is contiguous
  Vector label;           // of each row, as a number
  double similar_weight = 0, dissimilar_weight = 0, margin = 0;

  const Matrix& points() const { return anchor; }  // n x kept features, centred
};

// The alternating direction method of multipliers on the whole divergence grid, with one penalty for all of it: block
// one is solved in closed form (GridEquations), and the only n x n array is that of the copies of D, which an
// iteration reads and writes once (grid_passes). Block two also holds copies of the slopes, for their norms and L, with
// a separate penalty.
//
// Number is the storage type of the copies; everything else is double. Sums are made in a fixed number of parts, so
// that results do not depend on the threads.
template <class Number>
class AdmmGrid {
 public:
  explicit AdmmGrid(const GridProblem& problem);

  void start();  // from the zero model
  // Allocates only when the penalty of the slopes changes.
  void iterate();

  int iteration() const { return numbers_.iteration; }
  // Of the last iteration that measured them; only some do.
  const AdmmResiduals& residuals() const { return numbers_.residuals; }
  const Vector& z() const { return z_; }
  const Matrix& slopes() const { return slopes_; }
  // DualSolution::by_row of points begin .. end - 1.
  void dual_rows(Index begin, Index end, MatrixSpan block) const;

  RawParts raw_state();
  void after_restore() { equations_.factor(numbers_.norm_weight); }

 private:
  GridProx prox_at(double penalty) const;
  GridTerms terms() const;
  void set_intercepts();
  template <class Pass>
  void for_each_part(const Pass& pass);
  bool measures_residuals() const;
  void move_slopes();
  void shrink_slopes();
  void adapt();
  void change_penalty(double penalty, double norm_weight);

  const GridProblem& problem_;
  Index rows_;
  GridEquations equations_;
  LipschitzProx norm_prox_;
  AdmmNumbers numbers_;
  Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> copies_;  // pieces x points
  Vector z_, intercept_, norm_penalty_, of_piece_, of_point_;
  Matrix slopes_, slope_copy_, slope_slack_, old_slope_, slope_wish_, weighted_;
  Matrix of_point_parts_;
  std::vector<ResidualSums> residual_parts_;
};

}  // namespace bregmax::internal
