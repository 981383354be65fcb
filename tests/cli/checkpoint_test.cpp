#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "bregmax/core/random.hpp"
#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

// Some seconds of work.
const std::vector<std::string> kFit = {"fit",  "builtin:iris", "--from-labels", "--lambda",         "1",    "--solver",
                                       "admm", "--tolerance",  "1e-6",          "--max-iterations", "3000", "--threads",
                                       "1",    "--json"};

std::vector<std::string> with(std::vector<std::string> command, const std::vector<std::string>& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

std::vector<std::string> program_with(const std::vector<std::string>& more) {
  return with(with({BREGMAX_PROGRAM}, kFit), more);
}

nlohmann::json numbers_of(const Outcome& outcome) {
  const nlohmann::json fit = nlohmann::json::parse(outcome.out);
  nlohmann::json numbers;
  for (const char* name : {"status", "objective", "lower_bound", "loss", "lipschitz", "iterations"}) {
    numbers[name] = fit[name];
  }
  return numbers;
}

// Kills the run four times at random moments, each time resuming from its checkpoint, then lets it end.
void expect_killed_run_to_continue(const std::vector<std::string>& fit) {
  const TemporaryDirectory directory;
  const nlohmann::json whole = numbers_of(run(directory, fit));
  Random random(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::vector<std::string> resume;
  for (int kill = 0; kill < 4; ++kill) {
    const RunningProgram program(
        directory,
        with(with(with({BREGMAX_PROGRAM}, fit), {"--checkpoint", "state", "--checkpoint-every", "0"}), resume));
    program.wait_until_interruptible();
    std::this_thread::sleep_for(std::chrono::milliseconds(random.uniform_index(400)));
    while (kill == 3 && !std::filesystem::exists(directory / "state") && program.is_running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    program.signal(SIGKILL);
    program.wait();
    if (std::filesystem::exists(directory / "state")) resume = {"--resume", "state"};
  }
  ASSERT_FALSE(resume.empty()) << "no checkpoint was written";
  EXPECT_EQ(numbers_of(run(directory, with(fit, resume))), whole);
}

TEST(Checkpoint, AKilledRunContinuesToTheSameResult) { expect_killed_run_to_continue(kFit); }

TEST(Checkpoint, AKilledRunOnTheWholeGridContinuesToTheSameResult) {
  expect_killed_run_to_continue({"fit", "builtin:iris", "--all-pairs", "--lambda", "1", "--solver", "admm",
                                 "--precision", "float", "--max-iterations", "3000", "--threads", "1", "--json"});
}

TEST(Checkpoint, AKilledRunWithFewerPiecesThanRowsContinuesToTheSameResult) {
  expect_killed_run_to_continue({"fit", "builtin:balance-scale", "--from-labels", "--pieces", "20", "--lambda", "1",
                                 "--solver", "admm", "--tolerance", "1e-8", "--max-iterations", "4000", "--threads",
                                 "1", "--json"});
}

TEST(Checkpoint, SigtermWritesALastOneAndEndsWithExitCode1) {
  const TemporaryDirectory directory;
  const RunningProgram program(directory, program_with({"--checkpoint", "state", "--checkpoint-every", "1000"}));
  program.wait_until_interruptible();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  program.signal(SIGTERM);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped by an interrupt"));
  EXPECT_THAT(outcome.err, HasSubstr("--resume state continues"));
  EXPECT_TRUE(std::filesystem::exists(directory / "state"));
}

}  // namespace
}  // namespace bregmax::testing
