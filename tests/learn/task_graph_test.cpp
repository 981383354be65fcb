#include "learn/task_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "bregmax/core/error.hpp"

namespace bregmax::internal {
namespace {

TEST(TaskGraph, RunsEveryTaskOnceAndAfterThoseItNeeds) {
  constexpr std::size_t kTasks = 200;
  for (const int threads : {1, 2, 8}) {
    std::vector<std::atomic<int>> done(kTasks);
    std::atomic<int> out_of_order = 0;
    std::vector<Task> tasks(kTasks);
    for (std::size_t t = 0; t < kTasks; ++t) {
      if (t >= 3) tasks[t].after = {t - 3, t / 2};
      tasks[t].run = [&, t](const RunControl&) {
        for (const std::size_t before : tasks[t].after) out_of_order += done[before] == 1 ? 0 : 1;
        ++done[t];
      };
    }
    EXPECT_EQ(run_tasks(tasks, threads, 0, "test", {}), Status::kOptimal);
    EXPECT_EQ(out_of_order, 0);
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(TaskGraph, ReportsFromTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  double last = -1;
  RunControl control;
  control.on_progress = [&](const Progress& progress) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(progress.phase, "test");
    EXPECT_GE(progress.fraction, last);
    last = progress.fraction;
  };
  std::vector<Task> tasks(20);
  for (Task& task : tasks) {
    task.run = [](const RunControl&) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  }
  run_tasks(tasks, 2, 0, "test", control);
  EXPECT_GT(last, 0);
}

// A run of one long task shows that time passes.
TEST(TaskGraph, CountsTheSharesOfTasksUnderWay) {
  std::atomic<bool> seen_half = false;
  RunControl control;
  control.on_progress = [&](const Progress& progress) {
    EXPECT_LE(progress.fraction, 0.75);
    if (progress.fraction == 0.75) seen_half = true;  // all of the first task and half of the second
  };
  std::vector<Task> tasks(2);
  tasks[0].run = [](const RunControl& inner) { inner.report({.phase = "learn", .fraction = 7}); };
  tasks[1].run = [&](const RunControl& inner) {
    for (const double fraction : {0.5, 0.25, std::numeric_limits<double>::quiet_NaN()}) {
      inner.report({.phase = "learn", .fraction = fraction});
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!seen_half && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  };
  run_tasks(tasks, 1, 0, "test", control);
  EXPECT_TRUE(seen_half);
}

// Tasks that work until they are told to stop.
std::vector<Task> endless_tasks() {
  std::vector<Task> tasks(4);
  for (Task& task : tasks) {
    task.run = [](const RunControl& control) {
      while (!control.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
  }
  return tasks;
}

TEST(TaskGraph, EndsOnTheStopFlagAndOnTheTimeLimit) {
  std::atomic<bool> stop = false;
  RunControl control;
  control.stop = &stop;
  control.on_progress = [&](const Progress&) { stop = true; };
  EXPECT_EQ(run_tasks(endless_tasks(), 2, 0, "test", control), Status::kStopped);
  EXPECT_EQ(run_tasks(endless_tasks(), 2, 0.05, "test", {}), Status::kTimeLimit);
}

TEST(TaskGraph, PassesAnExceptionOn) {
  std::vector<Task> tasks = endless_tasks();
  tasks[1].run = [](const RunControl&) { throw Error("task 1 fails"); };
  EXPECT_THAT([&] { run_tasks(tasks, 2, 0, "test", {}); }, ::testing::ThrowsMessage<Error>("task 1 fails"));
}

// The tasks would never end by themselves.
TEST(TaskGraph, AnExceptionOfTheReportStopsTheTasks) {
  RunControl control;
  control.on_progress = [](const Progress&) { throw Error("the report fails"); };
  EXPECT_THAT([&] { run_tasks(endless_tasks(), 2, 0, "test", control); },
              ::testing::ThrowsMessage<Error>("the report fails"));
}

}  // namespace
}  // namespace bregmax::internal
