// Benchmarks run with the kernels that the program runs with.
#include <benchmark/benchmark.h>

#include "bregmax/core/blas_kernels.hpp"

int main(int argc, char** argv) {
  bregmax::restart_with_better_blas_kernels(argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("blas_kernels", bregmax::blas_kernels());
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
