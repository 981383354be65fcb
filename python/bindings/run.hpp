#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "bregmax/core/run_control.hpp"

namespace bregmax::python {

// Runs `work` on a thread of its own, without Python's lock, while the calling thread looks for signals and hands on
// progress a few times a second. Ctrl-C (or an exception of `on_progress`) asks the work to stop and, once it has, is
// raised. `threads`: for the work, 0: as many as the calling thread may use. `on_progress`: None, or called with
// (phase, iteration, fraction, relative_gap, seconds).
void run_interruptibly(const std::function<void(const RunControl&)>& work, const nanobind::object& on_progress,
                       int threads);

}  // namespace bregmax::python
