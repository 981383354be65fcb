#include "bregmax/core/blas_kernels.hpp"

#include <gtest/gtest.h>

namespace bregmax {
namespace {

using internal::choose_blas_kernels;

// That the library can be asked at all; which name it gives depends on the machine.
TEST(BlasKernels, HaveAName) { EXPECT_NE(blas_kernels(), ""); }

TEST(BlasKernels, OfOldProcessorsAreReplacedByThoseOfThisOne) {
  EXPECT_EQ(choose_blas_kernels("Prescott", false, "SkylakeX"), "SkylakeX");
  EXPECT_EQ(choose_blas_kernels("Nehalem", false, "Haswell"), "Haswell");
  EXPECT_EQ(choose_blas_kernels("Prescott", false, ""), "") << "an old processor";
}

TEST(BlasKernels, ThatSuitTheProcessorAreKept) {
  for (const char* taken : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", "one of the future"}) {
    EXPECT_EQ(choose_blas_kernels(taken, false, "Haswell"), "") << taken;
  }
}

TEST(BlasKernels, AreLeftToWhoeverNamesThem) { EXPECT_EQ(choose_blas_kernels("Prescott", true, "Haswell"), ""); }

}  // namespace
}  // namespace bregmax
