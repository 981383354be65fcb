#include "run.hpp"

#include <nanobind/stl/string.h>
#include <omp.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bregmax/core/threads.hpp"
#include "core/checks.hpp"
#include "module.hpp"

namespace bregmax::python {
namespace {

namespace nb = nanobind;

constexpr auto kLookForSignals = std::chrono::milliseconds(50);
constexpr auto kTimeToStop = std::chrono::milliseconds(300);

// One run, shared by the thread that works and the thread that waits.
class Run {
 public:
  Run(Work work, int threads, bool with_progress) : work_(std::move(work)), threads_(threads) {
    control_.stop = &stop_;
    if (with_progress) control_.on_progress = [this](const Progress& progress) { keep(progress); };
  }

  void work() {
    try {
      const ThreadLimit limit(threads_);
      work_(control_);
    } catch (...) {
      error_ = std::current_exception();
    }
    work_ = nullptr;  // frees what it owned in this thread, not where the Run is destroyed
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_one();
  }

  // Waits for the work, at most for `time`; returns whether it is done.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return done_; });
  }

  void request_stop() { stop_.store(true, std::memory_order_relaxed); }

  std::optional<Progress> take_latest(std::string& phase) {
    const std::lock_guard lock(mutex_);
    phase = phase_;
    return std::exchange(latest_, std::nullopt);
  }

  void rethrow_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void keep(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    phase_ = progress.phase;  // a view of memory that need not outlive the call
    latest_ = progress;
  }

  Work work_;
  int threads_;
  RunControl control_;
  std::exception_ptr error_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string phase_;
  std::optional<Progress> latest_;
};

// Runs that were asked to stop and that their callers no longer wait for. They are joined before Python exits, since
// they may still hold Python's arrays.
class Abandoned {
 public:
  void take(std::shared_ptr<Run> run, std::thread thread) {
    join_if([](Run& one) { return one.wait(std::chrono::milliseconds(0)); });
    const std::lock_guard lock(mutex_);
    runs_.push_back({std::move(run), std::move(thread)});
  }

  void wait_for_all() {
    join_if([](Run&) { return true; });
  }

 private:
  struct Entry {
    std::shared_ptr<Run> run;
    std::thread thread;
  };

  template <class Condition>
  void join_if(const Condition& condition) {
    const std::lock_guard lock(mutex_);
    runs_.remove_if([&](Entry& entry) {
      if (!condition(*entry.run)) return false;
      entry.thread.join();
      return true;
    });
  }

  std::mutex mutex_;
  std::list<Entry> runs_;
};

Abandoned& abandoned() {
  static Abandoned runs;
  return runs;
}

// Signals first: a handler that raises, as Ctrl-C does, must end the run even where progress is not shown.
void attend(Run& run, const nb::object& on_progress) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  std::string phase;
  const std::optional<Progress> latest = run.take_latest(phase);
  if (latest && !on_progress.is_none()) {
    on_progress(phase, latest->iteration, latest->fraction, latest->relative_gap, latest->tolerance);
  }
}

}  // namespace

int threads_or_all(int threads) { return threads > 0 ? threads : omp_get_max_threads(); }

void run_in_background(Work work, const nb::object& on_progress, int threads) {
  internal::require(threads >= 0, "n_jobs must be at least 1, or None for all threads");
  const auto run = std::make_shared<Run>(std::move(work), threads_or_all(threads), !on_progress.is_none());
  std::thread worker([run] { run->work(); });
  std::exception_ptr of_python;
  {
    const nb::gil_scoped_release unlocked;
    while (!of_python && !run->wait(kLookForSignals)) {
      const nb::gil_scoped_acquire locked;
      try {
        attend(*run, on_progress);
      } catch (...) {
        of_python = std::current_exception();
        run->request_stop();
      }
    }
    if (run->wait(kTimeToStop)) {
      worker.join();
    } else {
      abandoned().take(run, std::move(worker));
    }
  }
  if (of_python) std::rethrow_exception(of_python);
  run->rethrow_error();
}

void bind_run(nb::module_& module) {
  module.def(
      "wait_for_abandoned", [] { abandoned().wait_for_all(); }, nb::call_guard<nb::gil_scoped_release>());
  nb::module_::import_("atexit").attr("register")(module.attr("wait_for_abandoned"));
}

}  // namespace bregmax::python
