#include "learn/task_graph.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "bregmax/core/threads.hpp"
#include "core/progress.hpp"

namespace bregmax::internal {
namespace {

// How often the calling thread looks at the stop flag while the others work.
constexpr std::chrono::milliseconds kWatchPause{50};

class Board {
 public:
  Board(const std::vector<Task>& tasks, double time_limit)
      : tasks_(tasks), time_limit_(time_limit), waits_for_(tasks.size()), next_(tasks.size()), shares_(tasks.size()) {
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      waits_for_[t] = tasks[t].after.size();
      all_effort_ += tasks[t].effort;
      if (tasks[t].after.empty()) ready_.insert(t);
      for (const std::size_t before : tasks[t].after) next_[before].push_back(t);
    }
  }

  // One worker: until nothing is left or the run is ended.
  void work() {
    const ThreadLimit one_thread(1);
    std::atomic<double>* share = nullptr;  // of the task under way
    RunControl control;
    control.stop = &stop_;
    control.on_progress = [&share](const Progress& progress) {
      if (progress.fraction > *share) *share = std::min(progress.fraction, 1.0);
    };
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || !ready_.empty() || started_ == tasks_.size(); });
      // watch() looks at the clock only now and then, but no task may begin after the time limit.
      if (stop_ || ready_.empty() || time_is_up()) return;
      const std::size_t task = *ready_.begin();
      ready_.erase(ready_.begin());
      ++started_;
      share = &shares_[task];
      lock.unlock();
      std::exception_ptr failure;
      try {
        tasks_[task].run(control);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      finish(task, failure);
    }
  }

  // The calling thread: until all is done or the run is ended.
  Status watch(std::string_view phase, const RunControl& control) {
    Status status = Status::kOptimal;
    std::unique_lock lock(mutex_);
    while (!stop_ && done_ < tasks_.size()) {
      const std::size_t done = done_;
      Progress progress{.phase = phase, .iteration = static_cast<int>(done)};
      progress.fraction = all_effort_ > 0 ? effort_so_far() / all_effort_ : 0;
      progress.seconds = watch_.seconds();
      lock.unlock();
      control.report(progress);
      if (control.stop_requested())
        status = Status::kStopped;
      else if (time_is_up())
        status = Status::kTimeLimit;
      lock.lock();
      if (status != Status::kOptimal)
        stop_ = true;
      else
        changed_.wait_for(lock, kWatchPause, [&] { return stop_ || done_ > done; });
    }
    changed_.notify_all();
    return done_ == tasks_.size() ? Status::kOptimal : status;
  }

  // For the calling thread: no more tasks begin, and running ones are asked to stop.
  void end() {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool time_is_up() const { return time_limit_ > 0 && watch_.seconds() >= time_limit_; }

  // Always added up in the same order, so that it never falls.
  double effort_so_far() const {
    double effort = 0;
    for (std::size_t t = 0; t < tasks_.size(); ++t) effort += shares_[t] * tasks_[t].effort;
    return effort;
  }

  void finish(std::size_t task, const std::exception_ptr& failure) {
    ++done_;
    shares_[task] = 1;
    if (failure && !failure_) failure_ = failure;
    if (failure) stop_ = true;
    for (const std::size_t next : next_[task]) {
      if (--waits_for_[next] == 0) ready_.insert(next);
    }
    changed_.notify_all();
  }

  const std::vector<Task>& tasks_;
  double time_limit_;  // seconds; 0: none
  Stopwatch watch_;
  std::vector<std::size_t> waits_for_;          // number of tasks
  std::vector<std::vector<std::size_t>> next_;  // that wait for each
  std::set<std::size_t> ready_;
  std::vector<std::atomic<double>> shares_;  // of each task that are done
  std::size_t started_ = 0, done_ = 0;
  double all_effort_ = 0;
  std::atomic<bool> stop_ = false;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

Status run_tasks(const std::vector<Task>& tasks, int threads, double time_limit, std::string_view phase,
                 const RunControl& control) {
  // BLAS has one thread count for the whole process. We set it here, so that the workers set it to the same value.
  const ThreadLimit one_thread(1);
  Board board(tasks, time_limit);
  Status status = Status::kOptimal;
  {
    std::vector<std::jthread> crew;  // joined at the end of the scope
    try {
      const int most = std::max(1, static_cast<int>(tasks.size()));
      for (int i = std::clamp(threads, 1, most); i > 0; --i) crew.emplace_back([&board] { board.work(); });
      status = board.watch(phase, control);
    } catch (...) {  // from the caller's report: without end() the crew would first finish all tasks
      board.end();
      throw;
    }
  }
  board.rethrow_failure();
  return status;
}

}  // namespace bregmax::internal
