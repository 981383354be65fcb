// OPENBLAS_VERBOSE=2 makes OpenBLAS say on standard error which kernels it takes, each time it is loaded.
#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

std::string last_kernels(const std::string& said) {
  const std::size_t at = said.rfind("Core: ");
  return at == std::string::npos ? "" : said.substr(at + 6, said.find('\n', at) - at - 6);
}

TEST(BlasKernelsOfTheProgram, AreNotThoseOfAnOldProcessorOnANewOne) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "OpenBLAS mistakes only x86-64 processors for old ones";
#else
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2: old kernels are right for it";
  const TemporaryDirectory directory;
  const Outcome outcome = run_script(directory, "unset OPENBLAS_CORETYPE; OPENBLAS_VERBOSE=2 bregmax datasets --json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(json_of(outcome).contains("datasets"));
  const std::string kernels = last_kernels(outcome.err);
  ASSERT_NE(kernels, "") << outcome.err;
  EXPECT_NE(kernels, "Prescott");
  EXPECT_NE(kernels, "Nehalem");
  const Outcome words = run_script(directory, "unset OPENBLAS_CORETYPE; bregmax show 'two words'");
  EXPECT_NE(mistake_of(words).find("two words"), std::string::npos) << "arguments arrive as they are";
#endif
}

TEST(BlasKernelsOfTheProgram, AreThoseThatTheCallerNames) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the name is one of x86-64";
#else
  const TemporaryDirectory directory;
  const Outcome outcome = run_script(directory, "OPENBLAS_CORETYPE=Prescott OPENBLAS_VERBOSE=2 bregmax datasets");
  EXPECT_EQ(last_kernels(outcome.err), "Prescott");
#endif
}

}  // namespace
}  // namespace bregmax::testing
