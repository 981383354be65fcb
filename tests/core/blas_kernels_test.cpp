#include "bregmax/core/blas_kernels.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace bregmax {
namespace {

TEST(BlasKernels, HaveAName) { EXPECT_NE(blas_kernels(), ""); }

TEST(BlasKernels, AreLeftToWhoeverNamesThem) {
  ::setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  EXPECT_EQ(better_blas_kernels(), "");
  ::unsetenv("OPENBLAS_CORETYPE");
}

TEST(BlasKernels, AreBetterOnlyIfTheyAreOthers) {
  ::unsetenv("OPENBLAS_CORETYPE");
  EXPECT_NE(better_blas_kernels(), blas_kernels());
}

}  // namespace
}  // namespace bregmax
