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

const std::vector<std::string> kTunedFit = {"fit",   "builtin:iris", "--pieces",  "10",       "--lambdas", "1,10,100",
                                            "--out", "m.bregmax",    "--picture", "path.svg", "--threads", "2"};

TEST(Tuning, GoesIntoTheModelAndShowPrintsIt) {
  const TemporaryDirectory directory;
  std::vector<std::string> arguments = kTunedFit;
  arguments.emplace_back("--json");
  const Outcome outcome = run(directory, arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json fit = json_of(outcome);
  const nlohmann::json& tuning = fit["tuning"];
  EXPECT_EQ(tuning["tuned_for"], "average_precision");
  EXPECT_EQ(tuning["table"].size(), 3U * 7 + 1) << "and the Euclidean distance";
  EXPECT_EQ(tuning["chosen"]["lambda"], fit["lambda"]);
  EXPECT_EQ(tuning["chosen"]["smoothing"], fit["smoothing"]);
  EXPECT_EQ(tuning["chosen"]["scale"], fit["scale"]);
  EXPECT_FALSE(fit["constant"].get<bool>());
  double best = 0;
  for (const nlohmann::json& line : tuning["table"]) {
    best = std::max(best, line["scores"]["average_precision"]["mean"].get<double>());
    for (const char* measure : {"rand_index", "purity", "auc", "knn", "loss"}) {
      EXPECT_TRUE(line["scores"][measure]["standard_error"].is_number()) << measure;
    }
  }
  EXPECT_EQ(tuning["score"], best);
  EXPECT_EQ(json_of(run(directory, {"show", "m.bregmax", "--json"}))["tuning"], tuning);
  const std::string shown = run(directory, {"show", "m.bregmax"}).out;
  EXPECT_THAT(shown, HasSubstr("tuned for   average_precision"));
  EXPECT_THAT(shown, HasSubstr("* pbdl, lambda"));
  const std::string picture = read_file(directory / "path.svg");
  EXPECT_THAT(picture, HasSubstr("T = 0.3"));
  EXPECT_EQ(run(directory, {"show", "m.bregmax", "--picture", "again.svg"}).exit_code, 0);
  EXPECT_EQ(read_file(directory / "again.svg"), picture);
  const Outcome dots = run(directory, {"show", "m.bregmax", "--picture", "again.png"});
#ifdef BREGMAX_HAS_RSVG
  EXPECT_EQ(dots.exit_code, 0) << dots.err;
  EXPECT_EQ(png_size(read_file(directory / "again.png")), enlarged(svg_size(picture), 2));
#else
  EXPECT_THAT(mistake_of(dots), HasSubstr("without librsvg"));
#endif
}

TEST(Tuning, IsTheSameTwiceAndOnOneThread) {
  const TemporaryDirectory directory;
  const auto table = [&](const char* threads) {
    const Outcome outcome = run(directory, {"fit", "builtin:iris", "--pieces", "10", "--lambdas", "1,10", "--folds",
                                            "2", "--repeats", "1", "--threads", threads, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json_of(outcome)["tuning"]["table"];
  };
  const nlohmann::json first = table("2");
  EXPECT_EQ(table("2"), first);
  EXPECT_EQ(table("1"), first);
}

TEST(Tuning, TakesEveryMeasureAndSupervision) {
  const TemporaryDirectory directory;
  const auto fit = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"fit", "builtin:iris", "--pieces", "6",     "--lambdas", "1,10", "--folds",
                                          "2",   "--threads",    "2",        "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(directory, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json_of(outcome);
  };
  for (const char* measure : {"auc", "average_precision", "rand_index", "purity", "knn", "loss"}) {
    EXPECT_EQ(fit({"--repeats", "1", "--tune-for", measure})["tuning"]["tuned_for"], measure);
  }
  const nlohmann::json hard = fit({"--hard-comparisons", "2", "--scale", "auto"});
  EXPECT_EQ(hard["items"], 150 * 4);
  EXPECT_EQ(hard["tuning"]["table"].size(), 2U * 7 * 2 + 2) << "and the Euclidean distance at both scales";
  EXPECT_EQ(fit({"--hard-comparisons", "2", "--comparisons", "100"})["items"], 100);
  EXPECT_EQ(fit({"--from-labels", "--comparisons", "50"})["items"], 50);
  directory.write("p.csv", "0,1,1\n0,60,0\n60,61,1\n60,120,0\n120,121,1\n120,3,0\n");
  const nlohmann::json pairs = fit({"--pairs-file", "p.csv"});
  EXPECT_EQ(pairs["tuning"]["tuned_for"], "agreement");
  const nlohmann::json by_loss = fit({"--pairs-file", "p.csv", "--tune-for", "loss"});
  EXPECT_EQ(by_loss["tuning"]["tuned_for"], "loss");
  EXPECT_EQ(by_loss["smoothing"], 0) << "losses at different smoothings cannot be compared";
  EXPECT_THAT(mistake_of(run(directory, {"fit", "builtin:iris", "--pairs-file", "p.csv", "--tune-for", "auc"})),
              HasSubstr("held-out items"));
  EXPECT_THAT(mistake_of(run(directory, {"fit", "builtin:iris", "--pairs-file", "p.csv", "--folds", "7"})),
              HasSubstr("--folds is about choosing by cross-validation: too few items"));
}

TEST(Tuning, ChoosesPieces) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"fit", "builtin:iris", "--pieces", "auto", "--lambdas", "10,100", "--folds",
                                          "2", "--repeats", "1", "--smoothing", "0", "--threads", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json fit = json_of(outcome);
  EXPECT_EQ(fit["tuning"]["table"].size(), 2U * 4 + 1);
  const nlohmann::json& chosen = fit["tuning"]["chosen"]["pieces"];
  EXPECT_EQ(fit["pieces"].get<double>(), chosen == "all" ? 150 : chosen.get<double>());
}

TEST(Tuning, SaysWhenTheDivergenceIsConstant) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"fit", "builtin:iris", "--pieces", "5", "--lambda", "1e9", "--threads", "1",
                                          "--out", "m.bregmax", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(json_of(outcome)["constant"].get<bool>());
  EXPECT_THAT(outcome.err, HasSubstr("the learned divergence is constant"));
  EXPECT_THAT(run(directory, {"show", "m.bregmax"}).out, HasSubstr("is constant"));
  EXPECT_TRUE(json_of(run(directory, {"show", "m.bregmax", "--json"}))["constant"].get<bool>());
}

// What is said about a constant divergence depends on why it is one.
TEST(Tuning, SaysWhyTheDivergenceIsConstant) {
  const TemporaryDirectory directory;
  const auto advice = [&](const std::string& data, std::vector<std::string> more, const std::string& pieces = "2") {
    more.insert(more.begin(), {"fit", data, "--pieces", pieces, "--threads", "1"});
    const Outcome outcome = run(directory, more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("the learned divergence is constant"));
    return outcome.err;
  };
  directory.write("one.csv", "a,b,class\n1,2,x\n2,1,x\n5,6,x\n");
  directory.write("similar.csv", "i,j,s\n0,1,1\n50,51,1\n");
  directory.write("both.csv", "i,j,k,l\n0,1,0,60\n0,60,0,1\n");
  EXPECT_THAT(advice("one.csv", {"--all-pairs", "--lambda", "1"}), HasSubstr("all rows have the same label"));
  EXPECT_THAT(advice("builtin:iris", {"--pairs-file", "similar.csv", "--lambda", "1"}),
              HasSubstr("none of the pairs asks for a divergence above 0"));
  EXPECT_THAT(advice("builtin:iris", {"--lambda", "0.001"}, "1"), HasSubstr("--pieces 2 or more"));
  EXPECT_THAT(advice("builtin:iris", {"--lambda", "0.001", "--lipschitz", "1e-9"}),
              HasSubstr("--lipschitz 1e-09 allows no more"));
  EXPECT_THAT(advice("builtin:iris", {"--comparisons-file", "both.csv", "--lambda", "1"}),
              HasSubstr("the comparisons contradict each other"));
  EXPECT_THAT(advice("builtin:iris", {"--lambda", "1e9"}), HasSubstr("a --lambda smaller than 1e+09 may help"));
  EXPECT_THAT(advice("builtin:iris", {"--lambdas", "1e8,1e9", "--folds", "2", "--repeats", "1"}),
              HasSubstr("down to lambda 1e+08; smaller values of --lambdas may help"));
}

// All lambdas score the same, and the largest that is not constant on the folds is constant on all pairs.
TEST(Tuning, OfAHandfulOfPairsDoesNotChooseAConstantDivergence) {
  const TemporaryDirectory directory;
  directory.write("p.csv", "i,j,s\n0,1,1\n0,60,0\n60,61,1\n");
  for (const char* seed : {"0", "1", "2"}) {
    const Outcome outcome = run(directory, {"fit", "builtin:iris", "--pairs-file", "p.csv", "--pieces", "20",
                                            "--threads", "1", "--seed", seed, "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const nlohmann::json fit = json_of(outcome);
    EXPECT_FALSE(fit["constant"].get<bool>());
    EXPECT_EQ(fit["tuning"]["chosen"]["lambda"], fit["lambda"]);
    EXPECT_LT(fit["loss"].get<double>(), 1) << "a constant one has 2";
  }
}

TEST(Tuning, NeedsClassesThatCanBeHeldOut) {
  const TemporaryDirectory directory;
  directory.write("small.csv", "a,b,class\n1,2,x\n2,1,x\n5,6,y\n6,5,y\n");
  EXPECT_THAT(mistake_of(run(directory, {"fit", "small.csv", "--lambdas", "1,10"})), HasSubstr("--lambda V"));
  const Outcome automatic = run(directory, {"fit", "small.csv", "--threads", "1"});
  EXPECT_EQ(automatic.exit_code, 0);
  EXPECT_THAT(automatic.err, HasSubstr("smooth is learned with its standard parameters"));
  EXPECT_EQ(run(directory, {"fit", "small.csv", "--lambda", "1", "--threads", "1"}).exit_code, 0);
}

// Long enough not to end before the signal comes.
const std::vector<std::string> kLongTuning = {
    BREGMAX_PROGRAM, "fit", "builtin:balance-scale", "--threads", "2", "--out", "m.bregmax", "--picture", "p.svg"};

Outcome interrupted(const TemporaryDirectory& directory, std::vector<std::string> command, int milliseconds) {
  const RunningProgram program(directory, command);
  program.wait_until_interruptible();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  program.signal(SIGINT);
  return program.wait();
}

TEST(Tuning, LeavesOnlyItsScoresBehindWhenInterrupted) {
  const TemporaryDirectory directory;
  const Outcome outcome = interrupted(directory, kLongTuning, 500);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped by an interrupt while the best candidate was being chosen"));
  EXPECT_THAT(outcome.err, HasSubstr("m.bregmax was not written"));
  EXPECT_THAT(outcome.err, HasSubstr("the scores so far are in m.bregmax.scores"));
  EXPECT_EQ(directory.files(), 1U);
}

TEST(Tuning, HasNullForWhatItNeverKnew) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"fit", "builtin:balance-scale", "--method", "pbdl", "--time-limit", "1e-6",
                                          "--out", "m.bregmax", "--keep-partial", "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const nlohmann::json fit = json_of(outcome);
  EXPECT_EQ(fit["status"], "time_limit");
  for (const char* key :
       {"objective", "lower_bound", "relative_gap", "loss", "lipschitz", "lambda", "convexity_violation", "pieces",
        "supervision", "items", "solver", "iterations", "seconds", "smoothing", "constant", "model"}) {
    EXPECT_TRUE(fit[key].is_null()) << key;
  }
  for (const nlohmann::json& value : fit["certificate"]) EXPECT_TRUE(value.is_null());
  for (const char* key : {"chosen", "score", "standard_error"}) EXPECT_TRUE(fit["tuning"][key].is_null()) << key;
  EXPECT_EQ(fit["tuning"]["compared"], 0);
  EXPECT_EQ(directory.files(), 0U);
}

TEST(Tuning, KeepsTheBestModelSoFarWhenAskedTo) {
  const TemporaryDirectory directory;
  // Candidates are scored from the first fits on, and there are many to come. How soon depends on the machine.
  nlohmann::json fit;
  for (int wait = 2500; wait < 100'000 && (fit.is_null() || fit["model"].is_null()); wait *= 3) {
    const Outcome outcome =
        interrupted(directory,
                    {BREGMAX_PROGRAM, "fit", "builtin:iris", "--threads", "2", "--repeats", "200", "--lambdas",
                     "0.1,1,10,100", "--out", "m.bregmax", "--picture", "p.svg", "--keep-partial", "--json"},
                    wait);
    EXPECT_EQ(outcome.exit_code, 1);
    fit = json_of(outcome);
  }
  EXPECT_EQ(fit["status"], "stopped");
  EXPECT_EQ(fit["model"], "m.bregmax");
  EXPECT_TRUE(fit["certificate"]["objective"].is_null());
  EXPECT_TRUE(fit["convexity_violation"].is_null());
  const nlohmann::json& tuning = fit["tuning"];
  EXPECT_EQ(tuning["folds"], 600);
  EXPECT_LT(tuning["compared_folds"].get<int>(), 600);
  EXPECT_GE(tuning["compared"].get<int>(), 1);
  EXPECT_LE(tuning["compared"].get<int>(), 29);
  const nlohmann::json show = json_of(run(directory, {"show", "m.bregmax", "--json"}));
  EXPECT_EQ(show["status"], "stopped");
  EXPECT_EQ(show["tuning"], tuning);
  EXPECT_LT(show["n"].get<int>(), 150);
  const double objective = show["loss"].get<double>() + show["lambda"].get<double>() * show["lipschitz"].get<double>();
  EXPECT_NEAR(show["objective"].get<double>(), objective, 1e-9 * objective);
  EXPECT_LE(show["lower_bound"].get<double>(), objective);
  EXPECT_THAT(
      run(directory, {"show", "m.bregmax"}).out,
      HasSubstr("of 600 folds, the best of the " + tuning["compared"].dump() + " candidates scored there (29 in all)"));
  EXPECT_EQ(directory.files(), 2U) << "the model and the scores, but no picture of half a path";
}

// Kills the choice among methods three times at random moments; each time the same command goes on.
TEST(Tuning, ContinuesWhenItWasKilled) {
  const std::vector<std::string> fit = {
      "fit", "builtin:wine", "--candidates", "smooth,deep", "--repeats", "1", "--threads",
      "2",   "--out",        "m.bregmax",    "--json"};
  const auto told = [](const Outcome& outcome) {
    nlohmann::json json = json_of(outcome);
    json["tuning"].erase("seconds");
    json["tuning"].erase("solved");
    json.erase("seconds");
    return json;
  };
  const TemporaryDirectory directory, untouched;
  const nlohmann::json whole = told(run(untouched, fit));
  Random random(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::vector<std::string> command = fit;
  command.insert(command.begin(), BREGMAX_PROGRAM);
  for (int kill = 0; kill < 3; ++kill) {
    const RunningProgram program(directory, command);
    program.wait_until_interruptible();
    std::this_thread::sleep_for(std::chrono::milliseconds(random.uniform_index(500)));
    while (kill == 2 && !std::filesystem::exists(directory / "m.bregmax.scores") && program.is_running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    program.signal(SIGKILL);
    program.wait();
  }
  EXPECT_EQ(told(run(directory, fit)), whole);
  EXPECT_EQ(directory.files(), 1U) << "the model";
}

}  // namespace
}  // namespace bregmax::testing
