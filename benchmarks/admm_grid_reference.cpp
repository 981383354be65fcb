#include "admm_grid_reference.hpp"

#include "core/blas.hpp"

namespace bregmax::benchmarks {

ReferenceAdmm::ReferenceAdmm(const internal::GridProblem& problem, double penalty, double norm_weight,
                             double relaxation)
    : problem_(problem),
      penalty_(penalty),
      norm_weight_(norm_weight),
      relaxation_(relaxation),
      rows_(problem.pieces),
      features_(problem.features),
      z_(Vector::Zero(rows_)),
      right_(rows_),
      norm_penalty_(Vector::Constant(rows_, penalty * norm_weight)),
      norm_prox_(rows_, problem.norm_weight) {
  for (Matrix* m : {&divergence_, &relaxed_, &slack_, &dual_, &wanted_, &similar_, &lowered_, &lifted_, &hinge_slack_,
                    &residual_, &change_}) {
    m->setZero(rows_, rows_);
  }
  for (Matrix* m : {&slopes_, &slope_slack_, &slope_dual_, &slope_copy_, &slope_right_}) m->setZero(rows_, features_);
  for (Index k = 0; k < rows_; ++k) {
    for (Index l = 0; l < rows_; ++l) similar_(k, l) = problem.label(k) == problem.label(l) ? 1 : 0;
  }
  factor();
  update_slacks();
  update_slopes();
}

// A slope depends on z through sum_l (x_l - x_k)(z_l - z_k), which is `coupling` times z. The slopes are eliminated
// kAtOnce at a time.
void ReferenceAdmm::factor() {
  constexpr Index kAtOnce = 32;
  const auto n = static_cast<double>(rows_);
  Eigen::MatrixXd matrix = -2 * Eigen::MatrixXd::Ones(rows_, rows_);
  matrix.diagonal().array() += 2 * n;
  Matrix eliminated(kAtOnce * features_, rows_);
  for (Index k = 0; k < rows_; ++k) {
    const Matrix difference = problem_.points().rowwise() - problem_.points().row(k);
    Eigen::MatrixXd coupling = difference.transpose();
    coupling.col(k) -= difference.colwise().sum().transpose();
    blocks_.emplace_back(difference.transpose() * difference + norm_weight_ * Matrix::Identity(features_, features_));
    eliminated.middleRows(k % kAtOnce * features_, features_) = blocks_.back().matrixL().solve(coupling);
    if (k % kAtOnce + 1 < kAtOnce && k + 1 < rows_) continue;
    internal::gemm(true, false, rows_, rows_, (k % kAtOnce + 1) * features_, -1, eliminated.data(), rows_,
                   eliminated.data(), rows_, 1, matrix.data(), rows_);
  }
  matrix += Eigen::MatrixXd::Ones(rows_, rows_);  // the sum of z is zero
  factor_.compute(matrix);
}

void ReferenceAdmm::iterate() {
  solve_block_one();
  compute_divergences();
  relaxed_ = relaxation_ * divergence_ + (1 - relaxation_) * slack_;
  dual_ += relaxed_ - slack_;  // still of the old slack: the copy is slack + dual
  change_ = -slack_;
  update_slacks();
  change_ += slack_;
  slope_dual_ += relaxation_ * (slopes_ - slope_slack_);
  update_slopes();
  residual_ = divergence_ - slack_;
  measure();
}

void ReferenceAdmm::measure() {
  sums_.miss = residual_.squaredNorm();
  sums_.change = change_.squaredNorm();
  sums_.value = divergence_.squaredNorm();
  sums_.slack = slack_.squaredNorm();
  sums_.multiplier = dual_.squaredNorm();
}

Eigen::RowVectorXd ReferenceAdmm::solve_block(Index piece) const {
  return blocks_[static_cast<std::size_t>(piece)].solve(slope_right_.row(piece).transpose()).transpose();
}

void ReferenceAdmm::solve_block_one() {
  wanted_ = slack_ - dual_;
  const Vector of_piece = wanted_.rowwise().sum(), of_point = wanted_.colwise().sum().transpose();
  slope_right_.noalias() = -(wanted_ * problem_.points());
  slope_right_ += of_piece.asDiagonal() * problem_.points();
  slope_right_ += norm_weight_ * (2 * slope_slack_ - slope_copy_);
  right_ = of_point - of_piece;
  Matrix eliminated(rows_, features_);
  for (Index k = 0; k < rows_; ++k) eliminated.row(k) = solve_block(k);
  // C' H^-1 q, summed over the pieces; C as in factor().
  const Vector all = eliminated.colwise().sum().transpose();
  const Vector own = eliminated.cwiseProduct(problem_.points()).rowwise().sum();
  right_ += problem_.points() * all - Vector::Constant(rows_, own.sum());
  right_ += static_cast<double>(rows_) * own;
  z_ = factor_.solve(right_);
  const Vector moment = problem_.points().transpose() * z_;
  for (Index k = 0; k < rows_; ++k) {
    slope_right_.row(k) +=
        moment.transpose() + (static_cast<double>(rows_) * z_(k) - z_.sum()) * problem_.points().row(k);
    slopes_.row(k) = solve_block(k);
  }
}

void ReferenceAdmm::compute_divergences() {
  divergence_.noalias() = -slopes_ * problem_.points().transpose();
  divergence_.rowwise() += z_.transpose();
  divergence_.colwise() -= z_ - slopes_.cwiseProduct(problem_.points()).rowwise().sum();
}

// The copy is slack + dual; block two computes the new slack and dual from it.
void ReferenceAdmm::update_slacks() {
  relaxed_ = slack_ + dual_;
  lowered_ = relaxed_ - problem_.similar_weight / penalty_ * similar_;
  lifted_ = lowered_.array() + problem_.dissimilar_weight / penalty_ * (1 - similar_.array());
  hinge_slack_ = lifted_.cwiseMin(problem_.margin);
  slack_ = lowered_.cwiseMax(hinge_slack_).cwiseMax(0.0);
  dual_ = relaxed_ - slack_;
}

void ReferenceAdmm::update_slopes() {
  slope_copy_ = slope_slack_ + slope_dual_;
  norm_prox_.apply(slope_copy_, problem_.lambda, problem_.bound, norm_penalty_, slope_slack_);
  slope_dual_ = slope_copy_ - slope_slack_;
}

}  // namespace bregmax::benchmarks
