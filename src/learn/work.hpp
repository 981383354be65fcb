#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "learn/results_file.hpp"

namespace bregmax {

// A piece of work that returns records of results; none if it was stopped.
struct Job {
  std::string name;   // for messages
  double effort = 1;  // relative to the others, for the estimate of the time that is left
  std::function<std::vector<ResultsRecord>(const RunControl&)> run;
};

struct WorkOutcome {
  std::size_t done = 0, left = 0;  // jobs
  bool stopped = false;
};

// Runs the jobs on `threads` threads (0: as many as OpenMP may use), each single threaded, and appends their records,
// with the processor seconds of the job as last value. If a job fails, the work ends with an Error that names it.
WorkOutcome run_jobs(const std::vector<Job>& jobs, ResultsFile& results, int threads, const RunControl& control = {});

}  // namespace bregmax
