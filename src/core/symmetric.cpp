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

Matrix spectral(const Matrix& matrix, const std::function<double(double)>& function) {
  const SymmetricEigen eigen(matrix);
  return eigen.vectors * eigen.values.unaryExpr(function).asDiagonal() * eigen.vectors.transpose();
}

}  // namespace bregmax::internal
