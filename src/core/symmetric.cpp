#include "core/symmetric.hpp"

#include <Eigen/Eigenvalues>

namespace bregmax::internal {

SymmetricEigen::SymmetricEigen(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  values = solver.eigenvalues();
  vectors = solver.eigenvectors();
}

Vector symmetric_eigenvalues(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace bregmax::internal
