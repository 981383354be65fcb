#include "paper/work.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <time.h>

#include <atomic>

#include "bregmax/core/error.hpp"
#include "learn/task_graph.hpp"

namespace bregmax {
namespace {

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What the jobs share. Their processor time is that of the process, divided among the jobs under way.
class Work {
 public:
  Work(ResultsFile& results, int threads) : results_(results), threads_(threads) {}

  void run(const Job& job, const RunControl& control) {
    const double begin = process_seconds();
    std::vector<ResultsRecord> records;
    try {
      records = job.run(control);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", job.name, error.what()));
    }
    if (control.stop_requested() || records.empty()) return;
    const double seconds = (process_seconds() - begin) / threads_ / static_cast<double>(records.size());
    for (ResultsRecord& record : records) {
      record.values.push_back(seconds);
      results_.append(record);
    }
    done_effort_.fetch_add(job.effort);
    done_.fetch_add(1);
  }

  double done_effort() const { return done_effort_.load(); }
  std::size_t done() const { return done_.load(); }

 private:
  ResultsFile& results_;
  int threads_;
  std::atomic<double> done_effort_{0};
  std::atomic<std::size_t> done_{0};
};

}  // namespace

WorkOutcome run_jobs(const std::vector<Job>& jobs, ResultsFile& results, int threads, const RunControl& control) {
  if (threads < 0) throw Error(fmt::format("threads is {}; allowed: 0 (all) or more", threads));
  if (jobs.empty()) return {};
  const int workers = std::min(threads > 0 ? threads : omp_get_max_threads(), static_cast<int>(jobs.size()));
  Work work(results, workers);
  double effort = 0;
  std::vector<internal::Task> tasks;
  for (const Job& job : jobs) {
    effort += job.effort;
    tasks.push_back({[&work, &job](const RunControl& inner) { work.run(job, inner); }, {}});
  }
  RunControl outer = control;
  outer.on_progress = [&](Progress progress) {
    // Jobs are of very different length: the share of the work, not of the jobs, tells the time that is left.
    progress.fraction = effort > 0 ? work.done_effort() / effort : 0;
    control.report(progress);
  };
  const Status status = internal::run_tasks(tasks, workers, 0, "runs", outer);
  return {work.done(), jobs.size() - work.done(), status == Status::kStopped};
}

}  // namespace bregmax
