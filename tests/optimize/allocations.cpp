#include "optimize/allocations.hpp"

#include <cerrno>
#include <cstdlib>

#if defined(__GLIBC__)
#define BREGMAX_COUNTS_ALLOCATIONS 1
#endif

namespace {

thread_local long counted = 0;

}  // namespace

#ifdef BREGMAX_COUNTS_ALLOCATIONS
// operator new, Eigen and the BLAS all end here.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the C library's
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(readability-identifier-naming)

void* malloc(std::size_t size) noexcept {
  ++counted;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++counted;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  ++counted;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++counted;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  ++counted;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
}
#endif

namespace bregmax::test {

long allocations() { return counted; }

bool counts_allocations() {
#ifdef BREGMAX_COUNTS_ALLOCATIONS
  return true;
#else
  return false;
#endif
}

}  // namespace bregmax::test
