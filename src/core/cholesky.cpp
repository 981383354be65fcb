#include "core/cholesky.hpp"

#include <algorithm>

#include "core/blas.hpp"

extern "C" {
void dtrtri_(const char* uplo, const char* diagonal, const int* n, double* a, const int* lda, int* info);
}

namespace bregmax::internal {

constexpr Index kBlock = 48;

Cholesky::Cholesky(Index most) : inverse_(kBlock * kBlock), panel_(most * kBlock) {}

bool Cholesky::factor(double* matrix, Index rows, Index stride) {
  const int lda = static_cast<int>(stride);
  for (Index begin = 0; begin < rows; begin += kBlock) {
    const Index width = std::min(kBlock, rows - begin), below = rows - begin - width;
    const int n = static_cast<int>(width);
    double* diagonal = matrix + begin * stride + begin;
    int info = 0;
    dpotrf_("U", &n, diagonal, &lda, &info);  // row-major lower = column-major upper
    if (info != 0) return false;
    if (below == 0) break;
    for (Index i = 0; i < width; ++i) {
      const double* row = diagonal + i * stride;
      double* out = std::copy(row, row + i + 1, inverse_.data() + i * width);
      std::fill(out, inverse_.data() + (i + 1) * width, 0.0);
    }
    dtrtri_("U", "N", &n, inverse_.data(), &n, &info);
    if (info != 0) return false;
    double* panel = matrix + (begin + width) * stride + begin;
    for (Index i = 0; i < below; ++i) std::copy_n(panel + i * stride, width, panel_.data() + i * width);
    gemm(false, true, below, width, width, 1, panel_.data(), width, inverse_.data(), width, 0, panel, stride);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(below), n, -1, panel, lda, 1, panel + width,
                lda);
  }
  return true;
}

}  // namespace bregmax::internal
