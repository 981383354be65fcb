#include "bregmax/core/threads.hpp"

#include <omp.h>

#include <algorithm>

#include "core/checks.hpp"

extern "C" {
void openblas_set_num_threads(int threads);
int openblas_get_num_threads();
}

namespace bregmax {

ThreadLimit::ThreadLimit(int threads)
    : previous_openmp_(omp_get_max_threads()), previous_blas_(openblas_get_num_threads()) {
  internal::require(threads >= 0, "threads is {}; allowed: 0 (all cores) or more", threads);
  const int limit = threads == 0 ? std::max(1, omp_get_num_procs()) : threads;
  // OpenBLAS first: where it is built on OpenMP, it changes OpenMP's own number of threads.
  openblas_set_num_threads(limit);
  omp_set_num_threads(limit);
}

ThreadLimit::~ThreadLimit() {
  openblas_set_num_threads(previous_blas_);
  omp_set_num_threads(previous_openmp_);
}

}  // namespace bregmax
