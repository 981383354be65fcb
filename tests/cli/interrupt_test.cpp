#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "cli/program.hpp"

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

}  // namespace
}  // namespace bregmax::testing
