#include "run.hpp"

#include <nanobind/stl/string.h>
#include <omp.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bregmax/core/error.hpp"
#include "bregmax/core/threads.hpp"

namespace bregmax::python {
namespace {

namespace nb = nanobind;

constexpr auto kLookForSignals = std::chrono::milliseconds(50);

// What the thread that works and the thread that waits share.
class Watch {
 public:
  RunControl control(bool with_progress) {
    RunControl control;
    control.stop = &stop_;
    if (with_progress) control.on_progress = [this](const Progress& progress) { keep(progress); };
    return control;
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_one();
  }

  // Waits a little; is the work done?
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLookForSignals, [this] { return done_; });
  }

  void request_stop() { stop_.store(true, std::memory_order_relaxed); }

  std::optional<Progress> take_latest(std::string& phase) {
    const std::lock_guard lock(mutex_);
    phase = phase_;
    return std::exchange(latest_, std::nullopt);
  }

 private:
  void keep(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    phase_ = progress.phase;  // a view of memory that need not outlive the call
    latest_ = progress;
  }

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string phase_;
  std::optional<Progress> latest_;
};

// Signals first: a handler that raises, as Ctrl-C does, must end the run even where progress is not shown.
void attend(Watch& watch, const nb::object& on_progress) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  std::string phase;
  const std::optional<Progress> latest = watch.take_latest(phase);
  if (latest && !on_progress.is_none()) {
    on_progress(phase, latest->iteration, latest->fraction, latest->relative_gap, latest->seconds);
  }
}

}  // namespace

void run_interruptibly(const std::function<void(const RunControl&)>& work, const nb::object& on_progress, int threads) {
  if (threads < 0) throw Error("n_jobs must be at least 1, or None for all threads");
  Watch watch;
  std::exception_ptr of_work, of_python;
  const int limit = threads > 0 ? threads : omp_get_max_threads();
  std::thread worker([&] {
    try {
      const ThreadLimit threads_of_work(limit);
      work(watch.control(!on_progress.is_none()));
    } catch (...) {
      of_work = std::current_exception();
    }
    watch.finish();
  });
  {
    const nb::gil_scoped_release unlocked;
    while (!watch.wait()) {
      if (of_python) continue;
      const nb::gil_scoped_acquire locked;
      try {
        attend(watch, on_progress);
      } catch (...) {
        of_python = std::current_exception();
        watch.request_stop();
      }
    }
    worker.join();
  }
  if (of_python) std::rethrow_exception(of_python);
  if (of_work) std::rethrow_exception(of_work);
}

}  // namespace bregmax::python
