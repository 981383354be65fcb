#pragma once

// The few BLAS and LAPACK calls that we make, for row-major matrices given by pointer and row stride.

#include <cblas.h>

#include "bregmax/core/matrix.hpp"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda, const int* pivots,
             double* b, const int* ldb, int* info);
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info);
}

namespace bregmax::internal {

// c = alpha op(a) op(b) + beta c; c is rows x cols, inner is the shared dimension.
inline void gemm(bool transpose_a, bool transpose_b, Index rows, Index cols, Index inner, double alpha, const double* a,
                 Index stride_a, const double* b, Index stride_b, double beta, double* c, Index stride_c) {
  if (rows == 0 || cols == 0) return;
  cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(inner), alpha, a,
              static_cast<int>(stride_a), b, static_cast<int>(stride_b), beta, c, static_cast<int>(stride_c));
}

// The same in single precision.
inline void gemm(bool transpose_a, bool transpose_b, Index rows, Index cols, Index inner, float alpha, const float* a,
                 Index stride_a, const float* b, Index stride_b, float beta, float* c, Index stride_c) {
  if (rows == 0 || cols == 0) return;
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(inner), alpha, a,
              static_cast<int>(stride_a), b, static_cast<int>(stride_b), beta, c, static_cast<int>(stride_c));
}

}  // namespace bregmax::internal
