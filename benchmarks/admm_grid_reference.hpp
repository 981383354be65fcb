#pragma once

#include <Eigen/Cholesky>

#include "optimize/admm/grid.hpp"

namespace bregmax::benchmarks {

// The method of AdmmGrid in its most direct form: every quantity is a dense n x n array, every step a pass over
// some of them. The K x K matrix in z is formed and factored once; slopes have their d x d blocks. Penalties are fixed.
class ReferenceAdmm {
 public:
  ReferenceAdmm(const internal::GridProblem& problem, double penalty, double norm_weight, double relaxation);

  void iterate();
  const Vector& z() const { return z_; }
  const Matrix& slopes() const { return slopes_; }

 private:
  void factor();
  void solve_block_one();
  Eigen::RowVectorXd solve_block(Index piece) const;
  void compute_divergences();
  void update_slacks();
  void update_slopes();
  void measure();

  const internal::GridProblem& problem_;
  double penalty_, norm_weight_, relaxation_;
  Index rows_, features_;
  // pieces x points
  Matrix divergence_, relaxed_, slack_, dual_, wanted_, similar_, lowered_, lifted_, hinge_slack_, residual_, change_;
  Eigen::LLT<Eigen::MatrixXd> factor_;               // in z
  std::vector<Eigen::LLT<Eigen::MatrixXd>> blocks_;  // in each slope
  Vector z_, right_;
  Matrix slopes_, slope_slack_, slope_dual_, slope_copy_, slope_right_;
  Vector norm_penalty_;
  internal::ResidualSums sums_;
  internal::LipschitzProx norm_prox_;
};

}  // namespace bregmax::benchmarks
