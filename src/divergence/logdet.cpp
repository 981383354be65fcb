#include "bregmax/divergence/logdet.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "bregmax/core/error.hpp"
#include "core/symmetric.hpp"
#include "divergence/checks.hpp"
#include "divergence/excess.hpp"

namespace bregmax {
namespace {

Index order_of(const VectorView& row) {
  return static_cast<Index>(std::lround(std::sqrt(static_cast<double>(row.size()))));
}

// The row as a matrix, made exactly symmetric.
Eigen::MatrixXd unflatten(const VectorView& row) {
  const Index order = order_of(row);
  const Eigen::Map<const Matrix> given(row.data(), order, order);
  return 0.5 * (given + given.transpose());
}

double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& cholesky) {
  return 2 * cholesky.matrixLLT().diagonal().array().log().sum();
}

}  // namespace

double LogDet::generator(const VectorView& point) const {
  return -log_determinant(Eigen::LLT<Eigen::MatrixXd>(unflatten(point)));
}

void LogDet::gradient(const VectorView& reference, VectorSpan out) const {
  const Eigen::LLT<Eigen::MatrixXd> cholesky(unflatten(reference));
  const Index order = cholesky.rows();
  const Eigen::MatrixXd inverse = cholesky.solve(Eigen::MatrixXd::Identity(order, order));
  Eigen::Map<Matrix>(out.data(), order, order) = -0.5 * (inverse + inverse.transpose());
}

// With Y = L L^T and u the eigenvalues of L^-1 (X - Y) L^-T, D = sum u - log(1 + u): no cancellation for close
// matrices. Near u = -1 (X almost singular beside Y) the determinants are taken apart instead.
double LogDet::divergence(const VectorView& point, const VectorView& reference) const {
  const Eigen::MatrixXd x = unflatten(point), y = unflatten(reference);
  const Eigen::LLT<Eigen::MatrixXd> cholesky(y);
  Eigen::MatrixXd whitened = cholesky.matrixL().solve(x - y);
  whitened = cholesky.matrixL().solve(whitened.transpose()).eval();
  const Eigen::VectorXd u = internal::symmetric_eigenvalues(whitened);
  if (u.minCoeff() > -0.9) {
    double sum = 0;
    for (const double each : u) sum += internal::log_excess(each);
    return sum;
  }
  return std::max(0.0, u.sum() - log_determinant(Eigen::LLT<Eigen::MatrixXd>(x)) + log_determinant(cholesky));
}

void LogDet::check_domain(const VectorView& row, Index row_number, RowRole role) const {
  const Index order = order_of(row);
  if (order * order != row.size()) {
    throw Error(fmt::format("the {}s have {} features; logdet takes flattened square matrices (1, 4, 9, ...)",
                            internal::role_name(role), row.size()));
  }
  const double largest = row.cwiseAbs().maxCoeff();
  for (Index i = 0; i < order; ++i) {
    for (Index j = 0; j < i; ++j) {
      if (std::abs(row(i * order + j) - row(j * order + i)) <= 1e-9 * largest) continue;
      throw Error(fmt::format("{} row {} is not a symmetric matrix: features {} and {} are {} and {}",
                              internal::role_name(role), row_number, i * order + j, j * order + i, row(i * order + j),
                              row(j * order + i)));
    }
  }
  const Eigen::LLT<Eigen::MatrixXd> cholesky(unflatten(row));
  if (cholesky.info() == Eigen::Success && std::isfinite(log_determinant(cholesky))) return;
  throw Error(fmt::format("{} row {} is not a positive definite matrix, which logdet needs", internal::role_name(role),
                          row_number));
}

}  // namespace bregmax
