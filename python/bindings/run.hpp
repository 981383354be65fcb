#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "bregmax/core/run_control.hpp"

namespace bregmax::python {

using Work = std::function<void(const RunControl&)>;

// 0 stands for as many threads as the calling thread may use.
int threads_or_all(int threads);

void run_in_background(Work work, const nanobind::object& on_progress, int threads);

// Runs `work` on a new thread, without Python's lock, while the calling thread checks for signals and passes progress
// on a few times a second. Ctrl-C (or an exception of `on_progress`) asks the work to stop and is raised. An iteration
// of a solver may take long, so a run that does not stop at once is left to end by itself: `work` must own, by value,
// all that it reads. `threads`: for the work, as threads_or_all() takes it. `on_progress`: None, or called with (phase,
// iteration, fraction, relative_gap, tolerance).
template <class Result>
Result run_interruptibly(std::function<Result(const RunControl&)> work, const nanobind::object& on_progress,
                         int threads) {
  const auto result = std::make_shared<Result>();
  run_in_background([result, work = std::move(work)](const RunControl& control) { *result = work(control); },
                    on_progress, threads);
  return std::move(*result);
}

}  // namespace bregmax::python
