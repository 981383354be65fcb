#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Methods that take no time.
std::vector<std::string> quick_compare(std::vector<std::string> more) {
  std::vector<std::string> arguments = {"compare", "builtin:iris", "--methods", "gmml,itml", "--threads", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Compare, PrintsThePlanAndAnAlignedTable) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, quick_compare({}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("\nplan: 3 methods on 5 folds, less than a second; settings are chosen within each "
                        "training part, by average_precision\n"));
  EXPECT_THAT(outcome.err, HasSubstr("  gmml         21 candidates"));
  EXPECT_THAT(outcome.out, StartsWith("builtin:iris: 150 rows, 4 features, 3 classes\n\n"));
  std::istringstream lines(outcome.out);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Rand index") != std::string::npos || (!rows.empty() && rows.size() < 4)) rows.push_back(line);
  }
  ASSERT_EQ(rows.size(), 4U) << outcome.out;
  EXPECT_THAT(rows[1], StartsWith("euclidean "));
  EXPECT_THAT(rows[2], StartsWith("itml "));
  EXPECT_THAT(rows[3], StartsWith("gmml "));
  for (const std::string& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << row;
  EXPECT_THAT(rows[2] + rows[3], HasSubstr(") *"));
  EXPECT_THAT(outcome.out, HasSubstr("no choice has seen the rows"));
}

TEST(Compare, PrintsOneJsonObject) {
  const TemporaryDirectory directory;
  const nlohmann::json json = json_of(run(directory, quick_compare({"--json", "--repeats", "2"})));
  EXPECT_EQ(json["status"], "done");
  EXPECT_EQ(json["n"], 150);
  EXPECT_EQ(json["supervision"], "labels");
  EXPECT_EQ(json["folds"], 10);
  EXPECT_EQ(json["runs"], 30);
  EXPECT_EQ(json["runs_done"], 30);
  EXPECT_EQ(json["measures"], nlohmann::json({"rand_index", "purity", "auc", "average_precision", "knn"}));
  ASSERT_EQ(json["methods"].size(), 3U);
  double best = 0;
  std::string winner;
  for (const nlohmann::json& method : json["methods"]) {
    const nlohmann::json& score = method["scores"]["average_precision"];
    EXPECT_EQ(score["folds"].size(), 10U);
    EXPECT_TRUE(score["standard_error"].is_number());
    EXPECT_TRUE(method["seconds_of_fit"].is_number());
    EXPECT_EQ(method["settings"].size(), 10U);
    if (score["mean"] > best) winner = method["method"];
    best = std::max(best, score["mean"].get<double>());
  }
  EXPECT_EQ(json["winners"]["average_precision"], winner);
  EXPECT_NE(winner, "euclidean");
}

TEST(Compare, IsTheSameOnOneThread) {
  const TemporaryDirectory directory;
  const auto scores = [&](const char* threads) {
    nlohmann::json json =
        json_of(run(directory, {"compare", "builtin:iris", "--methods", "gmml,itml", "--json", "--threads", threads}));
    nlohmann::json all;
    for (const nlohmann::json& method : json["methods"]) all.push_back({method["scores"], method["settings"]});
    return all;
  };
  EXPECT_EQ(scores("1"), scores("2"));
}

TEST(Compare, GoesOnAfterAKill) {
  const TemporaryDirectory directory;
  const std::vector<std::string> arguments = {"compare", "builtin:wine", "--methods", "itml,smooth", "--threads",
                                              "1",       "--out",        "runs.csv"};
  const RunningProgram program(directory, [&] {
    std::vector<std::string> command = {BREGMAX_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
  }());
  const auto lines = [&] {
    const std::string text = std::filesystem::exists(directory / "runs.csv") ? read_file(directory / "runs.csv") : "";
    return std::ranges::count(text, '\n');
  };
  for (int wait = 0; wait < 1000 && lines() < 4 && program.is_running(); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  program.signal(SIGKILL);
  ASSERT_EQ(program.wait().exit_code, 128 + SIGKILL);
  const auto finished = lines() - 2;
  ASSERT_GE(finished, 2);
  ASSERT_LT(finished, 15);
  std::vector<std::string> again = arguments;
  again.emplace_back("--json");
  const nlohmann::json json = json_of(run(directory, again));
  EXPECT_EQ(json["runs_from_file"], finished);
  EXPECT_EQ(json["runs_done"], 15);
  again.resize(6);
  again.emplace_back("--json");
  const nlohmann::json anew = json_of(run(directory, again));
  for (std::size_t m = 0; m < 3; ++m) EXPECT_EQ(json["methods"][m]["scores"], anew["methods"][m]["scores"]);
}

TEST(Compare, PrintsWhatIsFinishedAfterCtrlC) {
  const TemporaryDirectory directory;
  const RunningProgram program(directory, {BREGMAX_PROGRAM, "compare", "builtin:wine", "--methods", "gmml,deep",
                                           "--json", "--out", "runs.csv", "--threads", "1"});
  program.wait_until_interruptible();
  for (int wait = 0; wait < 1000 && program.is_running(); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::string path = directory / "runs.csv";
    if (std::filesystem::exists(path) && read_file(path).find("euclidean,0") != std::string::npos) break;
  }
  program.signal(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped by an interrupt; "));
  EXPECT_THAT(outcome.err, HasSubstr("of 15 runs are missing, and the same command goes on"));
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["status"], "stopped");
  EXPECT_GE(json["runs_done"], 1);
  EXPECT_TRUE(json["methods"][0]["scores"]["auc"]["mean"].is_number());
}

TEST(Compare, EndsAtTheTimeLimit) {
  const TemporaryDirectory directory;
  const Outcome outcome =
      run(directory, {"compare", "builtin:wine", "--methods", "deep", "--time-limit", "1e-9", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the time limit was reached; "));
  EXPECT_THAT(outcome.out, HasSubstr("No method is scored on any fold yet."));
}

TEST(Compare, TakesFilesOfSupervision) {
  const TemporaryDirectory directory;
  const Outcome made = run_script(directory,
                                  "printf 'a,b\\n' > rows.csv; printf 'i,j,s\\n' > pairs.csv; "
                                  "printf 'i,j,value\\n' > targets.csv; "
                                  "for i in $(seq 0 39); do echo \"$((i % 7)).$i,$((i * i % 31))\" >> rows.csv; "
                                  "echo \"$i,$(((i + 7) % 40)),$((i % 2))\" >> pairs.csv; "
                                  "j=$(((i + 9) % 40)); difference=$((i * i % 31 - j * j % 31)); "
                                  "echo \"$i,$j,$((4 * difference * difference))\" >> targets.csv; done");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const nlohmann::json pairs = json_of(run(directory, {"compare", "rows.csv", "--label", "none", "--pairs-file",
                                                       "pairs.csv", "--methods", "gmml", "--json"}));
  EXPECT_EQ(pairs["measures"], nlohmann::json({"agreement"}));
  EXPECT_EQ(pairs["supervision"], "pairs");
  const nlohmann::json targets = json_of(run(directory, {"compare", "rows.csv", "--label", "none", "--targets-file",
                                                         "targets.csv", "--methods", "mahalanobis", "--json"}));
  EXPECT_EQ(targets["measures"], nlohmann::json({"loss"}));
  EXPECT_EQ(targets["winners"]["loss"], "mahalanobis");
  EXPECT_THAT(mistake_of(run(directory, {"compare", "rows.csv", "--label", "none", "--pairs-file", "pairs.csv",
                                         "--methods", "lmnn"})),
              HasSubstr("--methods has lmnn, which cannot learn from pairs; it learns from labels"));
  EXPECT_THAT(mistake_of(run(directory, {"compare", "rows.csv", "--label", "none"})),
              HasSubstr("rows.csv: nothing to learn from: there is no label column"));
}

TEST(Compare, RefusesMistakes) {
  const TemporaryDirectory directory;
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    return mistake_of(run(directory, arguments));
  };
  EXPECT_THAT(refusal({"builtin:iris", "--methods", "smoth"}),
              HasSubstr("--methods has 'smoth'; allowed: all, auto, "));
  EXPECT_THAT(refusal({"builtin:iris", "--methods", "smooth,"}), HasSubstr("--methods has ''; allowed: "));
  EXPECT_THAT(refusal({"builtin:iris", "--folds", "151"}), HasSubstr("--folds is 151; allowed: 2 to 150"));
  EXPECT_THAT(refusal({"builtin:iris", "--folds", "1"}), HasSubstr("--folds is '1'"));
  EXPECT_THAT(refusal({"builtin:iris", "--tune-for", "fun"}), HasSubstr("--tune-for is 'fun'"));
  EXPECT_THAT(refusal({"builtin:iris", "--method", "gmml"}), HasSubstr("did you mean --methods?"));
  std::ofstream(directory / "one.csv") << "a,class\n1,x\n2,x\n3,x\n4,x\n";
  EXPECT_THAT(refusal({"one.csv"}), HasSubstr("one.csv: column class: cross-validation needs two classes or more"));
  std::ofstream(directory / "other.csv") << "a,b\n1,2\n";
  EXPECT_THAT(refusal({"builtin:iris", "--methods", "gmml", "--out", "other.csv"}),
              HasSubstr("other.csv: this file holds something else than runs of this comparison"));
  EXPECT_EQ(read_file(directory / "other.csv"), "a,b\n1,2\n");
  EXPECT_THAT(refusal({"one.csv", "--out", "one.csv"}), HasSubstr("which it would overwrite"));
}

}  // namespace
}  // namespace bregmax::testing
