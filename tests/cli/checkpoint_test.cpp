#include <gmock/gmock.h>

#include <algorithm>
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

nlohmann::json numbers_of(const Outcome& outcome) {
  const nlohmann::json fit = nlohmann::json::parse(outcome.out);
  nlohmann::json numbers;
  for (const char* name : {"status", "objective", "lower_bound", "loss", "lipschitz", "stationarity", "iterations"}) {
    numbers[name] = fit.value(name, nlohmann::json());
  }
  return numbers;
}

// Divergences of the saved model between its own rows, all digits.
std::string divergences_of(const TemporaryDirectory& directory, const std::string& model, const std::string& data) {
  const Outcome outcome = run(directory, {"divergence", model, data, "--label", "class", "--out", model + ".npy"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return read_file(directory / (model + ".npy"));
}

// Kills the run four times at random moments, each time resuming from its checkpoint, then lets it end.
void expect_killed_run_to_continue(const std::vector<std::string>& fit) {
  const TemporaryDirectory directory;
  const nlohmann::json whole = numbers_of(run(directory, with(fit, {"--out", "whole", "--keep-partial"})));
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
  EXPECT_EQ(numbers_of(run(directory, with(with(fit, resume), {"--out", "resumed", "--keep-partial"}))), whole);
  EXPECT_EQ(divergences_of(directory, "resumed", fit[1]), divergences_of(directory, "whole", fit[1]));
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

const std::vector<std::string> kLearnDeep = {"fit",
                                             "builtin:ionosphere",
                                             "--method",
                                             "deep",
                                             "--method-parameter",
                                             "decay=0.001",
                                             "--method-parameter",
                                             "steps=1500",
                                             "--method-parameter",
                                             "width=64",
                                             "--threads",
                                             "1",
                                             "--json"};

TEST(Checkpoint, AKilledTrainingByBatchesContinuesToTheSameModel) { expect_killed_run_to_continue(kLearnDeep); }

TEST(Checkpoint, AKilledTrainingWithHeldOutRowsContinuesToTheSameModel) {
  expect_killed_run_to_continue(with(kLearnDeep, {"--early-stop"}));
}

TEST(Checkpoint, AKilledTrainingOnAllRowsContinuesToTheSameModel) {
  expect_killed_run_to_continue({"fit", "builtin:wine", "--method", "smooth", "--method-parameter", "optimiser=lbfgs",
                                 "--method-parameter", "decay=1e-4", "--tolerance", "1e-9", "--max-iterations", "400",
                                 "--threads", "1", "--json"});
}

// Scores of the choice are kept beside the model, and the state of the last fit in the checkpoint.
TEST(Checkpoint, TheLastFitAfterAChoiceContinues) {
  const TemporaryDirectory directory;
  const std::vector<std::string> fit = {
      "fit", "builtin:iris", "--candidates", "smooth", "--method", "auto", "--threads", "1", "--json"};
  const nlohmann::json whole = numbers_of(run(directory, with(fit, {"--out", "whole"})));
  const std::vector<std::string> kept = with(fit, {"--out", "model", "--checkpoint", "state"});
  const Outcome limited = run(directory, with(kept, {"--max-iterations", "100"}));
  EXPECT_EQ(limited.exit_code, 1);
  EXPECT_THAT(limited.err, HasSubstr("--resume state continues"));
  EXPECT_EQ(numbers_of(run(directory, with(kept, {"--resume", "state"}))), whole);
  EXPECT_EQ(divergences_of(directory, "model", "builtin:iris"), divergences_of(directory, "whole", "builtin:iris"));
}

TEST(Checkpoint, MistakesAreToldInOneLine) {
  const TemporaryDirectory directory;
  directory.write("table.csv", "a,b\n1,2\n");
  const auto mistake = [&](const std::vector<std::string>& more) {
    return mistake_of(run(directory, with({"fit", "builtin:iris"}, more)));
  };
  EXPECT_THAT(mistake({"--method", "itml", "--checkpoint", "state"}),
              HasSubstr("--checkpoint, --resume and --early-stop do not go with itml; smooth, deep, and pbdl with "
                        "--solver admm know them"));
  EXPECT_THAT(mistake({"--candidates", "pbdl,itml", "--early-stop"}),
              HasSubstr("go with smooth and deep, which are not among --candidates"));
  EXPECT_THAT(mistake({"--method", "smooth", "--checkpoint", "table.csv"}),
              HasSubstr("checkpoint: table.csv is another file, which would be lost"));
  EXPECT_THAT(mistake({"--method", "smooth", "--resume", "missing"}),
              HasSubstr("cannot resume from missing: it cannot be read"));
  EXPECT_THAT(mistake({"--resume", "table.csv"}), HasSubstr("it is not a checkpoint of this version"));
  EXPECT_THAT(mistake({"--lambda", "1", "--checkpoint", "state"}), HasSubstr("go with --solver admm"));
  EXPECT_FALSE(std::filesystem::exists(directory / "state"));
}

// Of the other kind, or of the same method with another parameter.
TEST(Checkpoint, OfAnotherFitIsRefused) {
  const TemporaryDirectory directory;
  const auto limited = [&](const std::vector<std::string>& more) {
    return run(directory, with({"fit", "builtin:iris", "--max-iterations", "2"}, more));
  };
  EXPECT_EQ(limited({"--lambda", "1", "--from-labels", "--solver", "admm", "--checkpoint", "admm"}).exit_code, 1);
  const std::vector<std::string> smooth = {"--method", "smooth", "--method-parameter"};
  EXPECT_EQ(limited(with(smooth, {"decay=1", "--checkpoint", "smooth"})).exit_code, 1);
  EXPECT_THAT(mistake_of(limited(with(smooth, {"decay=1", "--resume", "admm"}))),
              HasSubstr("cannot resume from admm: it is not a checkpoint of this version"));
  EXPECT_THAT(mistake_of(limited(with(smooth, {"decay=2", "--resume", "smooth"}))),
              HasSubstr("it belongs to other data, supervision or options"));
  EXPECT_THAT(mistake_of(limited(with(smooth, {"decay=1", "--checkpoint", "admm"}))),
              HasSubstr("checkpoint: admm is another file, which would be lost"));
}

void expect_a_last_one_at_sigterm(const std::vector<std::string>& command) {
  const TemporaryDirectory directory;
  const RunningProgram program(directory, with(command, {"--checkpoint", "state", "--checkpoint-every", "1000"}));
  program.wait_until_interruptible();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  program.signal(SIGTERM);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped by an interrupt"));
  EXPECT_THAT(outcome.err, HasSubstr("--resume state continues"));
  EXPECT_TRUE(std::filesystem::exists(directory / "state"));
}

TEST(Checkpoint, SigtermWritesALastOneAndEndsWithExitCode1) {
  expect_a_last_one_at_sigterm(with({BREGMAX_PROGRAM}, kFit));
  std::vector<std::string> deep = with({BREGMAX_PROGRAM}, kLearnDeep);
  std::ranges::replace(deep, "steps=1500", "steps=1000000");
  expect_a_last_one_at_sigterm(deep);
}

}  // namespace
}  // namespace bregmax::testing
