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

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Stands in for the dataset of this name: small, so that a run takes a fraction of a second.
void write_tiny_transfusion(const TemporaryDirectory& directory) {
  Random random(5);
  std::string text = "recency,frequency,monetary,time,class\n";
  for (int row = 0; row < 36; ++row) {
    const int donated = row % 2;
    text += std::to_string(random.normal() + 2 * donated) + "," + std::to_string(random.normal()) + "," +
            std::to_string(random.normal()) + "," + std::to_string(random.normal() - donated) + "," +
            std::to_string(donated) + "\n";
  }
  directory.write("transfusion.csv", text);
}

std::vector<std::string> tiny_table(const std::string& out) {
  return {"reproduce", "table2",     "--datasets", "transfusion", "--methods", "pbdl,gmml,euclidean", "--runs",
          "4",         "--data-dir", ".",          "--out",       out,         "--threads",           "1"};
}

TEST(Reproduce, MakesATableInEveryForm) {
  const TemporaryDirectory directory;
  write_tiny_transfusion(directory);
  const Outcome outcome = run(directory, tiny_table("out"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Table 2"), HasSubstr("transfusion"), HasSubstr("PBDL"), HasSubstr("GMML"),
                                 HasSubstr("22 of 30")));
  for (const char* name : {"table-runs.csv", "table2.md", "table2.csv", "table2.json", "table2-times.md"}) {
    EXPECT_TRUE(std::filesystem::exists(directory / ("out/" + std::string(name)))) << name;
  }
  EXPECT_THAT(read_file(directory / "out/table2.md"), HasSubstr("| PBDL | 4 |"));
  std::vector<std::string> report = tiny_table("out");
  report.insert(report.end(), {"--report-only", "--json"});
  const nlohmann::json table = json_of(run(directory, report));
  EXPECT_EQ(table["cells"].size(), 15U);
  EXPECT_EQ(table["cells"][0]["runs"], 4);
  EXPECT_EQ(table["cells"][0]["paper"], 57.9);
  std::filesystem::remove(directory / "transfusion.csv");
  EXPECT_EQ(json_of(run(directory, report)), table) << "a report needs no data";
}

TEST(Reproduce, RefusesDamagedResults) {
  const TemporaryDirectory directory;
  const std::vector<std::string> command = {"reproduce", "table1",     "--methods", "euclidean", "--runs",
                                            "1",         "--datasets", "iris",      "--out",     "out"};
  ASSERT_EQ(run(directory, command).exit_code, 0);
  std::string results = read_file(directory / "out/table-runs.csv");
  const std::string key = "iris,euclidean,euclidean,0,";
  ASSERT_THAT(results, HasSubstr(key));
  directory.write("out/table-runs.csv", results.replace(results.find(key), key.size(), "iris,euclidean,euclidean,x,"));
  EXPECT_THAT(mistake_of(run(directory, command)),
              HasSubstr("out/table-runs.csv: line 3: run is 'x'; allowed: a whole number"));
}

TEST(Reproduce, DrawsFigure1) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"reproduce", "figure1", "--out", "out", "--json"});
  const nlohmann::json figure = json_of(outcome);
  EXPECT_GT(figure["in_order"]["pbdl_x_to_a"].get<double>(), 0.99);
  EXPECT_NEAR(figure["a_angle"].get<double>(), 60, 1) << "the middle of an arc";
  const std::string picture = read_file(directory / "out/figure1.svg");
  EXPECT_THAT(picture, StartsWith("<svg"));
  EXPECT_EQ(std::filesystem::exists(directory / "out/figure1.png"), outcome.err.empty());
  EXPECT_THAT(read_file(directory / "out/figure1-quadratic.csv"), StartsWith("x,quadratic,max_affine\n"));
  EXPECT_THAT(read_file(directory / "out/figure1-circle.csv"), HasSubstr(",1,0,0,0\n")) << "A itself";
}

// The lines of a file that may not be there yet.
std::ptrdiff_t lines_in(const std::string& path) {
  if (!std::filesystem::exists(path)) return 0;
  const std::string text = read_file(path);
  return std::count(text.begin(), text.end(), '\n');
}

// By SIGKILL, which no handler sees, as soon as there is another result.
TEST(Reproduce, KilledBetweenResultsGivesTheSameTable) {
  const TemporaryDirectory directory;
  write_tiny_transfusion(directory);
  const Outcome whole = run(directory, tiny_table("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  std::vector<std::string> command = tiny_table("parts");
  command.insert(command.begin(), BREGMAX_PROGRAM);
  const std::string results = directory / "parts/table-runs.csv";
  const std::ptrdiff_t all = lines_in(directory / "whole/table-runs.csv");
  ASSERT_EQ(all, 2 + 3 * 4) << "a header of two lines, then one per row and run";
  for (std::ptrdiff_t before = lines_in(results); before < all; before = std::max(before + 1, lines_in(results))) {
    const RunningProgram program(directory, command);
    while (lines_in(results) <= before && program.is_running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    program.signal(SIGKILL);
    program.wait();
    EXPECT_GT(lines_in(results), before) << "a result that was written is not lost";
  }
  const Outcome resumed = run(directory, tiny_table("parts"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
  EXPECT_EQ(read_file(directory / "parts/table2.json"), read_file(directory / "whole/table2.json"));
}

TEST(Reproduce, CtrlCLeavesATableOfWhatIsThere) {
  const TemporaryDirectory directory;
  const RunningProgram program(directory, {BREGMAX_PROGRAM, "reproduce", "table2", "--datasets", "iris", "--methods",
                                           "euclidean,pbdl", "--runs", "1000", "--threads", "1", "--out", "out"});
  while (lines_in(directory / "out/table-runs.csv") < 3 && program.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  program.signal(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the same command continues"));
  EXPECT_THAT(outcome.out, HasSubstr("Table 2"));
}

TEST(Reproduce, SkipsWhatIsMissingWithALineOnHowToGetIt) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"reproduce", "table1", "--methods", "euclidean", "--runs", "2", "--datasets",
                                          "iris,transfusion", "--out", "out"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("transfusion is skipped"), HasSubstr("--data-dir")));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("iris"), Not(HasSubstr("5-NN"))));
}

TEST(Reproduce, RefusesWhereNothingIsLeftToRun) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"reproduce", "table1", "--datasets", "transfusion", "--out", "out"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no dataset is left"));
  EXPECT_FALSE(std::filesystem::exists(directory / "out"));
}

TEST(Reproduce, DrawsFigure2AndContinuesIt) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"reproduce", "figure2", "--runs", "1", "--datasets", "kl", "--out", "out"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string picture = read_file(directory / "out/figure2.svg");
  EXPECT_THAT(picture, StartsWith("<svg"));
  EXPECT_THAT(read_file(directory / "out/figure2.csv"), HasSubstr("\nkl,100,1,"));
#ifdef BREGMAX_HAS_RSVG
  EXPECT_EQ(png_size(read_file(directory / "out/figure2.png")), enlarged(svg_size(picture), 2.5));
#else
  EXPECT_FALSE(std::filesystem::exists(directory / "out/figure2.png"));
  EXPECT_THAT(outcome.err, HasSubstr("without librsvg"));
#endif
  const nlohmann::json again = json_of(run(directory, {"reproduce", "figure2", "--runs", "1", "--datasets", "kl",
                                                       "--report-only", "--json", "--out", "out"}));
  EXPECT_EQ(again["errors"].size(), 20U);
}

TEST(Reproduce, RefusesMistakes) {
  const TemporaryDirectory directory;
  const auto mistake = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "reproduce");
    return mistake_of(run(directory, arguments));
  };
  EXPECT_THAT(mistake({"table3"}), HasSubstr("allowed: table1, table2, figure1, figure2"));
  EXPECT_THAT(mistake({"table1", "--methods", "svm"}), HasSubstr("allowed: pbdl"));
  EXPECT_THAT(mistake({"table1", "--methods", "pbdl,,itml"}), HasSubstr("--methods"));
  EXPECT_THAT(mistake({"table1", "--methods", "pbdl,pbdl"}), HasSubstr("more than once"));
  EXPECT_THAT(mistake({"table1", "--datasets", "mnist"}), HasSubstr("allowed: iris"));
  EXPECT_THAT(mistake({"table1", "--datasets", "mnist", "--report-only"}), HasSubstr("allowed: iris"));
  EXPECT_THAT(mistake({"table1", "--runs", "-1"}), HasSubstr("--runs"));
  EXPECT_THAT(mistake({"table1", "--start", "random"}), HasSubstr("--start"));
  EXPECT_THAT(mistake({"table1", "--report-only", "--out", "nowhere"}), HasSubstr("nowhere/table-runs.csv"));
  EXPECT_THAT(mistake({"figure2", "--datasets", "iris"}), HasSubstr("allowed: kl"));
  EXPECT_THAT(mistake({"figure2", "--methods", "pbdl"}), HasSubstr("option of the tables"));
  EXPECT_THAT(mistake({"figure1", "--runs", "3"}), HasSubstr("figure1"));
  directory.write("file", "");
  EXPECT_THAT(mistake({"table1", "--methods", "euclidean", "--datasets", "iris", "--runs", "1", "--out", "file/x"}),
              HasSubstr("--out"));
  EXPECT_EQ(directory.files(), 1U);
}

TEST(Reproduce, RefusesResultsOfAnotherSeed) {
  const TemporaryDirectory directory;
  std::vector<std::string> command = {"reproduce", "table1",     "--methods", "euclidean", "--runs",
                                      "1",         "--datasets", "iris",      "--out",     "out"};
  ASSERT_EQ(run(directory, command).exit_code, 0);
  command.insert(command.end(), {"--seed", "1"});
  EXPECT_THAT(mistake_of(run(directory, command)), HasSubstr("seed 0"));
}

}  // namespace
}  // namespace bregmax::testing
