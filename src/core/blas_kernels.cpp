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

// OpenBLAS's name for the best kernels that this processor can run; empty: it has no AVX2.
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

// The file of this program. Empty if it is unknown, or if another program, such as a loader or a debugger's helper, was
// started to run this one.
std::string own_file(const char* name) {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size()) return {};
  path.resize(length);
  const auto last_part = [](std::string_view whole) { return whole.substr(whole.rfind('/') + 1); };
  return last_part(path) == last_part(name) ? path : std::string();
}

}  // namespace

std::string internal::choose_blas_kernels(std::string_view taken, bool named, std::string_view of_processor) {
  return named || !are_old(taken) ? std::string() : std::string(of_processor);
}

std::string blas_kernels() { return openblas_get_corename(); }

std::string better_blas_kernels() {
  const bool named =
      std::getenv(kVariable) != nullptr;  // NOLINT(concurrency-mt-unsafe): nothing of ours changes it later
  return internal::choose_blas_kernels(blas_kernels(), named, kernels_of_processor());
}

void restart_with_better_blas_kernels(char** argv) {
  const std::string better = better_blas_kernels();
  if (better.empty() || argv == nullptr || argv[0] == nullptr) return;
  const std::string file = own_file(argv[0]);
  if (file.empty()) return;
  // This runs first in main(), so there are no other threads yet.
  if (::setenv(kVariable, better.c_str(), 1) != 0) return;  // NOLINT(concurrency-mt-unsafe)
  ::execv(file.c_str(), argv);
  ::unsetenv(kVariable);  // NOLINT(concurrency-mt-unsafe): the restart failed, so the program goes on without it
}

}  // namespace bregmax
