#include <gmock/gmock.h>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSmall = "a,b,class\n1,2,x\n2,1,x\n1,1,x\n5,6,y\n6,5,y\n7,7,y\n";

nlohmann::json fit(const TemporaryDirectory& directory, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "fit");
  arguments.insert(arguments.end(), {"--threads", "1", "--json"});
  const Outcome outcome = run(directory, arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  nlohmann::json result = json_of(outcome);
  EXPECT_EQ(result.value("status", ""), "optimal");
  return result;
}

TEST(Fit, TakesEveryKindOfSupervision) {
  const TemporaryDirectory directory;
  directory.write("data.csv", kSmall);
  directory.write("c.csv", "i,j,k,l\n0,1,0,3\n3,4,3,0\n");
  directory.write("p.csv", "i,j,s,weight\n0,1,1,1\n0,3,0,2\n");
  directory.write("t.csv", "0,1,0.5\n0,3,2\n");
  const auto by_file = [&](const char* option, const char* file) {
    return fit(directory, {"data.csv", option, file, "--lambda", "1"})["supervision"];
  };
  EXPECT_EQ(by_file("--comparisons-file", "c.csv"), "comparisons");
  EXPECT_EQ(by_file("--pairs-file", "p.csv"), "pairs");
  const nlohmann::json targets = fit(directory, {"data.csv", "--method", "pbdl", "--targets-file", "t.csv"});
  EXPECT_EQ(targets["supervision"], "targets");
  EXPECT_EQ(targets["lambda"], 0) << "the paper puts no price on the Lipschitz constant here";
  EXPECT_TRUE(targets["certificate"].contains("valid_up_to_lipschitz"));
  EXPECT_EQ(fit(directory, {"data.csv", "--all-pairs"})["items"], 30);
  EXPECT_EQ(fit(directory, {"data.csv", "--from-labels", "--comparisons", "7"})["items"], 7);
  const nlohmann::json standard = fit(directory, {"data.csv", "--method", "pbdl"});
  EXPECT_EQ(standard["items"], 30) << "all pairs";
  EXPECT_EQ(standard["tuning"]["tuned_for"], "average_precision");
  EXPECT_EQ(standard["tuning"]["folds"], 2 * 3) << "the classes of three rows allow two folds, made three times";
  EXPECT_EQ(fit(directory, {"data.csv", "--from-labels", "--lambda", "1"})["items"], 2000);
}

TEST(Fit, TakesExtremeLambdas) {
  const TemporaryDirectory directory;
  directory.write("data.csv", kSmall);
  for (const char* lambda : {"0", "1e-8", "1e8"})
    fit(directory, {"data.csv", "--comparisons", "50", "--lambda", lambda});
}

TEST(Fit, HandlesConstantFeaturesDuplicateRowsAndAClassOfOne) {
  const TemporaryDirectory directory;
  directory.write("data.csv", "a,b,class\n1,3,x\n1,3,x\n2,3,x\n5,3,y\n5,3,y\n9,3,z\n");
  EXPECT_EQ(fit(directory, {"data.csv", "--comparisons", "50", "--lambda", "1"})["n"], 6) << "no row is dropped";
  EXPECT_EQ(fit(directory, {"data.csv", "--all-pairs", "--lambda", "1"})["n"], 6);
  directory.write("one.csv", "a,b,class\n1,3,x\n2,1,x\n2,3,x\n");
  EXPECT_EQ(fit(directory, {"one.csv", "--all-pairs", "--lambda", "1"})["items"], 6)
      << "one class: all pairs are similar";
}

TEST(Fit, TakesTheLabelColumnByNameNumberOrNotAtAll) {
  const TemporaryDirectory directory;
  directory.write("data.csv", "kind,a,b\n1,1,2\n1,2,1\n2,5,6\n2,6,5\n");
  EXPECT_EQ(fit(directory, {"data.csv", "--label", "kind", "--lambda", "1"})["d"], 2);
  EXPECT_EQ(fit(directory, {"data.csv", "--label", "0", "--lambda", "1"})["d"], 2);
  directory.write("p.csv", "0,1,1\n0,2,0\n");
  EXPECT_EQ(fit(directory, {"data.csv", "--label", "none", "--pairs-file", "p.csv", "--lambda", "1"})["d"], 3);
}

TEST(Fit, TakesThePieceColumn) {
  const TemporaryDirectory directory;
  directory.write("data.csv", "a,p,b,class\n1,0,2,x\n2,0,1,x\n1,2,1,x\n5,1,6,y\n6,1,5,y\n");
  const nlohmann::json result =
      fit(directory, {"data.csv", "--piece-column", "p", "--comparisons", "20", "--lambda", "1", "--out", "m.bregmax"});
  EXPECT_EQ(result["pieces"], 3);
  EXPECT_EQ(result["d"], 2);
  const Outcome outcome = run(directory, {"divergence", "m.bregmax", "data.csv"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "") << "the model knows that p is no feature";
  EXPECT_EQ(run(directory, {"divergence", "m.bregmax", "data.csv", "--piece-column", "p"}).out, outcome.out);
}

TEST(Fit, IsTheSameTwice) {
  const TemporaryDirectory directory;
  const std::vector<std::string> arguments = {"builtin:iris", "--pieces", "10", "--comparisons", "200", "--seed", "3"};
  const nlohmann::json first = fit(directory, arguments), second = fit(directory, arguments);
  EXPECT_EQ(first["objective"], second["objective"]);
  EXPECT_EQ(first["lower_bound"], second["lower_bound"]);
}

TEST(Fit, ThatEndsEarlyExitsWith1AndSavesNothing) {
  const TemporaryDirectory directory;
  for (const std::vector<std::string>& limit :
       {std::vector<std::string>{"--max-iterations", "2"}, std::vector<std::string>{"--time-limit", "1e-9"}}) {
    std::vector<std::string> arguments = {"fit", "builtin:iris", "--pieces",  "10",    "--lambda", "1", "--threads",
                                          "1",   "--out",        "m.bregmax", "--json"};
    arguments.insert(arguments.end(), limit.begin(), limit.end());
    const Outcome outcome = run(directory, arguments);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(limit[0]));
    EXPECT_TRUE(json_of(outcome)["model"].is_null());
    EXPECT_EQ(directory.files(), 0U);
    arguments.emplace_back("--keep-partial");
    EXPECT_EQ(run(directory, arguments).exit_code, 1);
    EXPECT_EQ(directory.files(), 1U);
    std::filesystem::remove(directory / "m.bregmax");
  }
}

TEST(Fit, TellsPeopleWhatWasProved) {
  const TemporaryDirectory directory;
  const Outcome outcome =
      run(directory, {"fit", "builtin:iris", "--pieces", "5", "--threads", "1", "--out", "m.bregmax"});
  EXPECT_THAT(outcome.out, HasSubstr("optimal: objective "));
  EXPECT_THAT(outcome.out, HasSubstr("lower bound "));
  EXPECT_THAT(outcome.out, HasSubstr("largest convexity violation"));
  EXPECT_THAT(outcome.out, HasSubstr("bregmax show m.bregmax"));
  EXPECT_THAT(outcome.out, HasSubstr("  euclidean   0."));
  EXPECT_THAT(outcome.err, HasSubstr("\nplan: 78 candidates on 3 folds, 3 times, the best by average_precision"));
}

TEST(Fit, CountsOneAsOne) {
  const TemporaryDirectory directory;
  directory.write("data.csv", kSmall);
  directory.write("p.csv", "0,3,0\n");
  const Outcome outcome =
      run(directory, {"fit", "data.csv", "--pairs-file", "p.csv", "--lambda", "0.1", "--out", "m.bregmax"});
  EXPECT_THAT(outcome.out, HasSubstr(" 1 pair, from p.csv"));
  EXPECT_THAT(run(directory, {"show", "m.bregmax"}).out, HasSubstr("from 1 pair on 6 rows"));
}

TEST(Fit, HelpIsOnStandardOutput) {
  const TemporaryDirectory directory;
  for (const char* command : {"demo", "fit", "show", "divergence", "evaluate", "rank", "cluster", "classify", "bounds",
                              "approximate", "reproduce", "methods", "datasets"}) {
    const Outcome outcome = run(directory, {command, "--help"});
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_THAT(outcome.out, HasSubstr("Examples:")) << command;
    EXPECT_EQ(outcome.err, "") << command;
  }
  EXPECT_EQ(run(directory, {"--version"}).out, "bregmax " BREGMAX_VERSION "\n");
}

// Rows 0 and 1 are equal, so they are the same reference when the model is applied, even if their pieces differ.
TEST(Fit, SaysWhereTheModelAppliesOtherwiseThanTheLossCounted) {
  const TemporaryDirectory directory;
  directory.write("data.csv", "a\n0\n0\n1\n3\n");
  directory.write("targets.csv", "i,j,value\n2,0,1\n2,1,5\n3,0,9\n");
  const std::vector<std::string> by_targets = {"data.csv", "--targets-file", "targets.csv", "--lambda", "0.001"};
  const nlohmann::json repeated = fit(directory, by_targets);
  EXPECT_GT(repeated["applied_loss"].get<double>(), repeated["loss"].get<double>() + 1);
  std::vector<std::string> as_text = by_targets;
  as_text.insert(as_text.begin(), "fit");
  EXPECT_THAT(run(directory, as_text).out, HasSubstr("applied, the model has a loss of"));
  // Without rows that are the same there is nothing to say.
  directory.write("data.csv", "a\n0\n0.5\n1\n3\n");
  EXPECT_THAT(run(directory, as_text).out, ::testing::Not(HasSubstr("applied, the model")));
}

TEST(Fit, SaysWhatSmoothingMakesOfTheLoss) {
  const TemporaryDirectory directory;
  const std::vector<std::string> smoothed = {"builtin:iris", "--lambda", "1", "--smoothing", "0.3"};
  const nlohmann::json json = fit(directory, smoothed);
  EXPECT_GT(json["applied_loss"].get<double>(), json["loss"].get<double>());
  std::vector<std::string> as_text = smoothed;
  as_text.insert(as_text.begin(), "fit");
  EXPECT_THAT(run(directory, as_text).out, HasSubstr("; then smoothed with T = 0.3, which makes the loss "));
}

// One pair outweighs all the others: the loss that the others leave is small relative to the loss of the zero model.
TEST(Fit, SaysWhereTheGapIsRelativeToTheZeroModel) {
  const TemporaryDirectory directory;
  directory.write("data.csv", "a,b\n0,0\n1,0.5\n2,2\n3,1\n");
  directory.write("pairs.csv", "i,j,s,weight\n0,3,0,1e9\n0,1,1,1\n1,2,0,1\n2,3,1,1\n3,1,0,1\n");
  const std::vector<std::string> fitted = {"fit",      "data.csv", "--pairs-file", "pairs.csv",
                                           "--lambda", "1",        "--out",        "m.bregmax"};
  EXPECT_THAT(run(directory, fitted).out, HasSubstr("(to a thousandth of the zero model's loss)"));
  EXPECT_THAT(run(directory, {"show", "m.bregmax"}).out, HasSubstr("(to a thousandth of the zero model's loss)"));
  directory.write("pairs.csv", "i,j,s\n0,3,0\n0,1,1\n1,2,0\n2,3,1\n3,1,0\n");
  EXPECT_THAT(run(directory, fitted).out, ::testing::Not(HasSubstr("thousandth")));
}

}  // namespace
}  // namespace bregmax::testing
