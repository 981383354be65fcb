#pragma once

#include <benchmark/benchmark.h>

#include <string>

namespace bregmax {

inline bool benchmark_failed = false;  // what main() returns

// Says why, in place of the result.
inline void fail_benchmark(benchmark::State& state, const std::string& why) {
  benchmark_failed = true;
  state.SkipWithError(why.c_str());
}

}  // namespace bregmax
