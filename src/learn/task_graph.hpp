#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/status.hpp"

namespace bregmax::internal {

struct Task {
  // The control has a stop flag. The largest fraction that the task reports counts as its share that is done.
  std::function<void(const RunControl&)> run;
  std::vector<std::size_t> after = {};  // tasks of smaller number that must be done before
  double effort = 1;                    // relative to the others, for the share of the work that is done; >= 0
};

// Runs the tasks on `threads` threads, in each of which OpenMP and BLAS use one thread. Of the tasks that are ready,
// the one with the smallest number starts first. The calling thread reports the progress, as RunControl promises, and
// watches the stop flag and the time limit (0: none). An exception of a task or of the report ends the run and is
// thrown here. Returns kOptimal, kStopped or kTimeLimit.
Status run_tasks(const std::vector<Task>& tasks, int threads, double time_limit, std::string_view phase,
                 const RunControl& control);

}  // namespace bregmax::internal
