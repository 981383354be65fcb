#include "bregmax/core/blas_kernels.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

extern "C" {
char* openblas_get_corename();
}

namespace bregmax {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

// What this processor has, and OpenBLAS's name for kernels that use it.
std::string kernels_of_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return {};
}

// Kernels for processors without AVX2.
bool are_old(std::string_view kernels) {
  constexpr std::array<std::string_view, 21> kOld = {
      "Unknown", "Katmai",    "Coppermine", "Northwood",    "Prescott",  "Banias",     "Atom",
      "Core2",   "Penryn",    "Dunnington", "Nehalem",      "Athlon",    "Nano",       "Sandybridge",
      "Opteron", "Barcelona", "Bobcat",     "Opteron_SSE3", "Bulldozer", "Piledriver", "Steamroller"};
  return std::find(kOld.begin(), kOld.end(), kernels) != kOld.end();
}

}  // namespace

std::string blas_kernels() { return openblas_get_corename(); }

std::string better_blas_kernels() {
  if (std::getenv(kVariable) != nullptr || !are_old(blas_kernels())) return {};
  return kernels_of_processor();
}

void restart_with_better_blas_kernels(char** argv) {
  const std::string better = better_blas_kernels();
  if (better.empty() || ::setenv(kVariable, better.c_str(), 1) != 0) return;
  ::execv("/proc/self/exe", argv);
  ::unsetenv(kVariable);  // there is no such file: the program goes on as it is
}

}  // namespace bregmax
