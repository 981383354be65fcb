#include "bregmax/core/threads.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

TEST(ThreadLimit, HoldsWhileItLivesAndIsUndoneAfter) {
  const int before = omp_get_max_threads();
  {
    const ThreadLimit limit(3);
    EXPECT_EQ(omp_get_max_threads(), 3);
    {
      const ThreadLimit inner(1);
      EXPECT_EQ(omp_get_max_threads(), 1);
    }
    EXPECT_EQ(omp_get_max_threads(), 3);
  }
  EXPECT_EQ(omp_get_max_threads(), before);
}

TEST(ThreadLimit, ZeroMeansAllThatThereAre) {
  const ThreadLimit limit(0);
  EXPECT_EQ(omp_get_max_threads(), available_threads());
}

TEST(ThreadLimitBadInput, DetectsNegativeNumbers) { EXPECT_THROW(ThreadLimit(-1), Error); }

}  // namespace
}  // namespace bregmax
