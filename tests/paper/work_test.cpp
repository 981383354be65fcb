#include "learn/work.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "bregmax/core/error.hpp"
#include "data/expect_error.hpp"
#include "data/temporary_directory.hpp"
#include "paper/cases.hpp"
#include "paper/summary.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;
using testing::tiny_plan;

const std::vector<std::string> kRows = {"pbdl", "pbdl-smoothed", "gmml", "euclidean"};
constexpr int kRuns = 4;

// The table that a file holds, as a user sees it.
std::string table_in(const std::string& path) {
  SummaryRequest request;
  request.datasets = {"iris"};
  request.rows = kRows;
  const TableSummary summary =
      summarise(paper_table("table2"), table_runs(read_results(path, table_format(0))), request);
  return summary_as_text(summary) + summary_as_csv(summary) + summary_as_json(summary);
}

// Runs all missing jobs, or, with `stop_after`, stops in the middle of the job that begins after so many others.
WorkOutcome work_on(const std::string& path, int threads, int stop_after = -1) {
  const TablePlan plan = tiny_plan(kRows, kRuns);
  ResultsFile results(path, table_format(0));
  std::vector<Job> jobs = missing_jobs(plan, results);
  std::atomic<bool> stop{false};
  std::atomic<int> begun{0};
  for (Job& job : jobs) {
    job.run = [&stop, &begun, stop_after, run = job.run](const RunControl& control) {
      if (begun.fetch_add(1) == stop_after) stop = true;
      return run(control);
    };
  }
  RunControl control;
  control.stop = &stop;
  return run_jobs(jobs, results, threads, control);
}

TEST(Work, InterruptedInTheMiddleOfJobsGivesTheSameTable) {
  const TemporaryDirectory directory;
  const std::string whole = directory / "whole.csv", parts = directory / "parts.csv";
  EXPECT_EQ(work_on(whole, 1).left, 0U);
  for (int time = 0; time < 6; ++time) {
    const WorkOutcome outcome = work_on(parts, 1 + time % 2, time % 3);
    EXPECT_TRUE(outcome.stopped) << time;
    EXPECT_GT(outcome.left, 0U) << time;
  }
  EXPECT_EQ(work_on(parts, 2).left, 0U);
  EXPECT_EQ(table_in(parts), table_in(whole));
}

TEST(Work, ResultsDoNotDependOnTheThreads) {
  const TemporaryDirectory directory;
  const std::string one = directory / "one.csv", three = directory / "three.csv";
  work_on(one, 1);
  work_on(three, 3);
  EXPECT_EQ(table_in(one), table_in(three));
}

TEST(Work, DoesNothingTwice) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  EXPECT_EQ(work_on(path, 2).done, 3U * kRuns) << "rows of one group are one job";
  EXPECT_EQ(work_on(path, 2).done, 0U);
}

// The first of four jobs is seven tenths of the work; the second waits until that was reported.
TEST(Work, ReportsTheShareOfTheWorkRatherThanOfTheJobs) {
  const TemporaryDirectory directory;
  const ResultsFormat format{"a test", {"run"}, {"value", "seconds"}, 0};
  ResultsFile results(directory / "r.csv", format);
  std::atomic<bool> seen{false};
  std::vector<Job> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back({"job", i == 0 ? 7.0 : 1.0, [i, &seen](const RunControl&) {
                      for (int wait = 0; i == 1 && wait < 2000 && !seen; ++wait) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(10));
                      }
                      return std::vector<ResultsRecord>{{{std::to_string(i)}, {0.5}, ""}};
                    }});
  }
  RunControl control;
  control.on_progress = [&](const Progress& progress) { seen = seen || std::abs(progress.fraction - 0.7) < 1e-12; };
  EXPECT_EQ(run_jobs(jobs, results, 1, control).done, 4U);
  EXPECT_TRUE(seen);
  EXPECT_EQ(read_results(directory / "r.csv", format).size(), 4U);
}

TEST(Work, AFailingJobIsNamed) {
  const TemporaryDirectory directory;
  ResultsFile results(directory / "r.csv", {"a test", {"name"}, {"value", "seconds"}, 0});
  const std::vector<Job> jobs = {
      {"iris, itml, run 3", 1, [](const RunControl&) -> std::vector<ResultsRecord> { throw Error("no luck"); }}};
  EXPECT_THAT(error_of([&] { run_jobs(jobs, results, 1); }), HasSubstr("iris, itml, run 3: no luck"));
  EXPECT_THAT(error_of([&] { run_jobs(jobs, results, -1); }), HasSubstr("threads is -1"));
}

TEST(TablePlan, FindsBuiltInDatasetsAndThoseOfAFolder) {
  const TemporaryDirectory directory;
  EXPECT_EQ(find_dataset("wine", "")->table.features.rows(), 178);
  EXPECT_FALSE(find_dataset("transfusion", "").has_value());
  EXPECT_FALSE(find_dataset("transfusion", directory / ".").has_value());
  directory.write("transfusion.csv", "a,b,c,d,donated in March\n1,2,3,4,1\n2,3,4,5,0\n");
  const auto found = find_dataset("transfusion", directory / ".");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->table.features.cols(), 4);
  EXPECT_EQ(found->table.labels->classes(), 2);
  EXPECT_THAT(how_to_get("transfusion", "here"), HasSubstr("there is no here/transfusion.csv"));
  EXPECT_THAT(error_of([] { find_dataset("mnist", ""); }), HasSubstr("allowed: iris"));
}

}  // namespace
}  // namespace bregmax
