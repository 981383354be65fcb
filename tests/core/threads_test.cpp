#include "bregmax/core/threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  EXPECT_EQ(omp_get_max_threads(), omp_get_num_procs());
}

TEST(ThreadLimitBadInput, DetectsNegativeNumbers) {
  EXPECT_THAT([] { ThreadLimit(-1); }, ThrowsMessage<Error>(HasSubstr("threads is -1; allowed: 0")));
}

}  // namespace
}  // namespace bregmax
