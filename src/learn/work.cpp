#include "learn/work.hpp"

#include <omp.h>
#include <time.h>

#include <atomic>

#include "core/checks.hpp"
#include "learn/task_graph.hpp"

namespace bregmax {
namespace {

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

WorkOutcome run_jobs(const std::vector<Job>& jobs, ResultsFile& results, int threads, const RunControl& control) {
  internal::require(threads >= 0, "threads is {}; allowed: 0 (all) or more", threads);
  if (jobs.empty()) return {};
  const int workers = std::min(threads > 0 ? threads : omp_get_max_threads(), static_cast<int>(jobs.size()));
  std::atomic<std::size_t> done{0};
  const auto run = [&](const Job& job, const RunControl& inner) {
    const double begin = process_seconds();
    std::vector<ResultsRecord> records;
    try {
      records = job.run(inner);
    } catch (const Error& error) {
      internal::fail("{}: {}", job.name, error.what());
    }
    if (inner.stop_requested() || records.empty()) return;
    // The processor time of the process is divided among the jobs under way.
    const double seconds = (process_seconds() - begin) / workers / static_cast<double>(records.size());
    for (ResultsRecord& record : records) {
      record.values.push_back(seconds);
      results.append(record);
    }
    done.fetch_add(1);
  };
  std::vector<internal::Task> tasks;
  tasks.reserve(jobs.size());
  for (const Job& job : jobs) {
    tasks.push_back({[&run, &job](const RunControl& inner) { run(job, inner); }, {}, job.effort});
  }
  const Status status = internal::run_tasks(tasks, workers, 0, "runs", control);
  return {done.load(), jobs.size() - done.load(), status == Status::kStopped};
}

}  // namespace bregmax
