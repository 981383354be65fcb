#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "cli/program.hpp"
#include "sanitized.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

// Long enough not to end before the signal comes: many pieces, a hard lambda.
const std::vector<std::string> kLongFit = {
    BREGMAX_PROGRAM, "fit", "builtin:balance-scale", "--lambda", "0.01", "--threads", "1", "--out", "m.bregmax"};

void interrupt_the_solver(const RunningProgram& program) {
  program.wait_until_interruptible();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.signal(SIGINT);
}

TEST(Interrupt, EndsAFitWithExitCode1AndWithoutAFile) {
  const TemporaryDirectory directory;
  const RunningProgram program(directory, kLongFit);
  interrupt_the_solver(program);
  const auto sent = std::chrono::steady_clock::now();
  const Outcome outcome = program.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - sent, std::chrono::seconds(30)) << "even with sanitizers";
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped by an interrupt"));
  EXPECT_THAT(outcome.err, HasSubstr("m.bregmax was not written"));
  EXPECT_EQ(directory.files(), 0U);
}

TEST(Interrupt, KeepsTheUnfinishedModelWhenAskedTo) {
  const TemporaryDirectory directory;
  std::vector<std::string> command = kLongFit;
  command.insert(command.end(), {"--keep-partial", "--json"});
  const RunningProgram program(directory, command);
  interrupt_the_solver(program);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  const nlohmann::json fit = json_of(outcome);
  EXPECT_EQ(fit["status"], "stopped");
  EXPECT_EQ(fit["model"], "m.bregmax");
  EXPECT_EQ(json_of(run(directory, {"show", "m.bregmax", "--json"}))["status"], "stopped");
}

TEST(Interrupt, LeavesNoPictureOfAnUnfinishedDemo) {
  const TemporaryDirectory directory;
  const RunningProgram program(directory, {BREGMAX_PROGRAM, "demo"});
  program.wait_until_interruptible();
  program.signal(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped by an interrupt"));
  EXPECT_EQ(directory.files(), 0U);
}

// A program that reads a pipe: it waits there, even if it is asked to stop, until it is killed or the pipe is fed.
class WaitingProgram {
 public:
  WaitingProgram() {
    EXPECT_EQ(::mkfifo((directory_ / "rows.csv").c_str(), 0600), 0);
    program_.emplace(directory_, std::vector<std::string>{BREGMAX_PROGRAM, "fit", "rows.csv", "--lambda", "1"});
    program_->wait_until_interruptible();
  }

  void interrupt() const {
    program_->signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  void feed() const { directory_.write("rows.csv", "a,b,class\n1,2,x\n2,1,x\n5,6,y\n6,5,y\n"); }
  Outcome wait() const { return program_->wait(); }

 private:
  TemporaryDirectory directory_;
  std::optional<RunningProgram> program_;
};

// `timeout -s INT` signals the process and then its group.
TEST(Interrupt, TakesTwoSignalsAtOnceForOne) {
  const WaitingProgram program;
  program.interrupt();
  program.interrupt();
  program.feed();
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped by an interrupt"));
}

TEST(Interrupt, KillsAtASecondOneThatComesLater) {
  if (test::kThreadSanitized) {
    GTEST_SKIP()
        << "the thread sanitizer holds signals back while a file is being opened, which is what the program does";
  }
  const WaitingProgram program;
  program.interrupt();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  program.interrupt();
  EXPECT_EQ(program.wait().exit_code, 128 + SIGINT);
}

}  // namespace
}  // namespace bregmax::testing
