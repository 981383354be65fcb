// Benchmarks run with the kernels that the program runs with. Fails if one of them did.
#include <benchmark/benchmark.h>

#include "bregmax/core/blas_kernels.hpp"
#include "failure.hpp"

int main(int argc, char** argv) {
  bregmax::restart_with_better_blas_kernels(argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("blas_kernels", bregmax::blas_kernels());
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return bregmax::benchmark_failed ? 1 : 0;
}
