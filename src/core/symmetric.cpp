#include "core/symmetric.hpp"

#include <omp.h>

#include <limits>
#include <optional>
#include <vector>

#include "bregmax/core/threads.hpp"
#include "core/blas.hpp"
#include "core/products.hpp"

namespace bregmax::internal {
namespace {

// Eigenvalues, ascending. With job "V" the columns of the matrix become the eigenvectors. On one thread: with several,
// the digits depend on their number.
Vector decompose(const char* job, Eigen::MatrixXd& matrix) {
  const int size = static_cast<int>(matrix.rows());
  Vector values = Vector::Constant(size, std::numeric_limits<double>::quiet_NaN());
  if (size == 0 || !matrix.allFinite()) return values;
  std::optional<ThreadLimit> one_thread;
  if (omp_in_parallel() == 0) one_thread.emplace(1);  // in a parallel region BLAS has one thread, anyway
  double work_size = 0;
  int index_size = 0, info = 0, ask = -1;
  dsyevd_(job, "L", &size, matrix.data(), &size, values.data(), &work_size, &ask, &index_size, &ask, &info);
  std::vector<double> work(static_cast<std::size_t>(work_size));
  std::vector<int> indices(static_cast<std::size_t>(index_size));
  const int work_length = static_cast<int>(work.size());
  dsyevd_(job, "L", &size, matrix.data(), &size, values.data(), work.data(), &work_length, indices.data(), &index_size,
          &info);
  if (info != 0) values.setConstant(std::numeric_limits<double>::quiet_NaN());
  return values;
}

}  // namespace

SymmetricEigen::SymmetricEigen(const Eigen::Ref<const Eigen::MatrixXd>& matrix) : vectors(matrix) {
  values = decompose("V", vectors);
}

Vector symmetric_eigenvalues(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  Eigen::MatrixXd copy = matrix;
  return decompose("N", copy);
}

Matrix spectral(const Matrix& matrix, const std::function<double(double)>& function) {
  const SymmetricEigen eigen(matrix);
  const Matrix vectors = eigen.vectors, scaled = vectors * eigen.values.unaryExpr(function).asDiagonal();
  Matrix out(vectors.rows(), vectors.rows());
  set_product_transposed(scaled, vectors, out);
  return out;
}

}  // namespace bregmax::internal
