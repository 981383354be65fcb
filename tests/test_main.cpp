// Tests run with the kernels that the program runs with, so that both give the same to the last bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bregmax/core/blas_kernels.hpp"

int main(int argc, char** argv) {
  bregmax::restart_with_better_blas_kernels(argv);
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
