#pragma once

namespace bregmax {

// While it lives, OpenMP regions started from this thread and BLAS use at most `threads` threads.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);  // 0: all cores
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int previous_openmp_;
  int previous_blas_;
};

}  // namespace bregmax
