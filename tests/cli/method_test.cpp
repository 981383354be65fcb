// The methods as a user runs them.

#include <gmock/gmock.h>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;

Outcome fit_iris(const TemporaryDirectory& directory, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"fit", "builtin:iris", "--threads", "1"});
  return run(directory, arguments);
}

TEST(Method, EveryOneOfThemIsLearnedSavedAndApplied) {
  const TemporaryDirectory directory;
  const nlohmann::json methods = json_of(run(directory, {"methods", "--json"}))["methods"];
  ASSERT_GE(methods.size(), 6U);
  std::string targets;
  for (int i = 0; i < 60; ++i) targets += std::to_string(i) + "," + std::to_string(2 * i) + ",1.5\n";
  directory.write("targets.csv", targets);
  for (const nlohmann::json& method : methods) {
    const std::string name = method["name"];
    std::vector<std::string> arguments = {"--method", name, "--out", "m.bregmax", "--json"};
    if (method["supervision"] == "targets") arguments.insert(arguments.end(), {"--targets-file", "targets.csv"});
    const Outcome outcome = fit_iris(directory, arguments);
    ASSERT_EQ(outcome.exit_code, 0) << name << outcome.err;
    const nlohmann::json report = json_of(outcome);
    EXPECT_EQ(report["method"], name);
    const bool proved = name == "pbdl";
    EXPECT_EQ(report["status"], proved ? "optimal" : "converged");
    if (name == "smooth" || name == "deep") {  // their batches end after a planned number of steps
      EXPECT_TRUE(report["stationarity"].is_number());
    } else {
      EXPECT_LE(report[proved ? "relative_gap" : "stationarity"], report["tolerance"]);
    }
    EXPECT_EQ(report["plan"]["method"][0], name);
    const nlohmann::json shown = json_of(run(directory, {"show", "m.bregmax", "--json"}));
    EXPECT_EQ(shown["method"], name);
    const Outcome text = run(directory, {"show", "m.bregmax"});
    EXPECT_THAT(text.out, HasSubstr(proved ? "relative gap" : "stationarity"));
    std::vector<std::string> used, known;
    for (const auto& [parameter, value] : report["parameters"].items()) used.push_back(parameter);
    for (const nlohmann::json& parameter : method["parameters"]) known.push_back(parameter["name"]);
    EXPECT_THAT(used, ::testing::UnorderedElementsAreArray(known)) << name;
    if (!proved) {
      EXPECT_EQ(shown["parameters"], report["parameters"]);
    }
    const Outcome scores = run(directory, {"evaluate", "m.bregmax", "builtin:iris", "--restarts", "2", "--json"});
    EXPECT_EQ(scores.exit_code, 0) << name << scores.err;
    EXPECT_GE(json_of(scores)["auc"], 0.5) << name;
    EXPECT_EQ(run(directory, {"cluster", "m.bregmax", "builtin:iris", "-k", "3", "--json"}).exit_code, 0);
  }
}

TEST(Method, GoesOnFromAModel) {
  const TemporaryDirectory directory;
  ASSERT_EQ(
      fit_iris(directory, {"--method", "smooth", "--method-parameter", "decay=0.01", "--out", "a.bregmax"}).exit_code,
      0);
  const nlohmann::json first = json_of(run(directory, {"show", "a.bregmax", "--json"}));
  const Outcome text = fit_iris(directory, {"--start", "a.bregmax", "--out", "a.bregmax"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("start       a.bregmax"));
  const nlohmann::json second = json_of(run(directory, {"show", "a.bregmax", "--json"}));
  EXPECT_EQ(second["parameters"], first["parameters"]);
  EXPECT_EQ(second["class_names"], first["class_names"]);
  EXPECT_LE(second["objective"].get<double>(), first["objective"].get<double>() * 1.001);

  const auto mistake = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--start", "a.bregmax"});
    return mistake_of(fit_iris(directory, arguments));
  };
  EXPECT_THAT(mistake({"--scale", "none"}), HasSubstr("--scale does not go with --start"));
  EXPECT_THAT(mistake({"--method", "deep"}), HasSubstr("--method deep: the model to go on from is one of smooth"));
  EXPECT_THAT(mistake({"--method", "smooth", "--method-parameter", "pieces=3"}),
              HasSubstr("--method-parameter pieces is 3, and the model to go on from has 50"));
  EXPECT_THAT(mistake_of(run(directory, {"fit", "builtin:wine", "--start", "a.bregmax"})),
              HasSubstr("found 13 features"));
  EXPECT_THAT(mistake({"--picture", "a.bregmax"}), HasSubstr("--picture"));
}

TEST(Method, ParametersReachTheMethod) {
  const TemporaryDirectory directory;
  const auto objective = [&](const std::string& gamma) {
    return json_of(fit_iris(directory, {"--method", "itml", "--method-parameter", "gamma=" + gamma,
                                        "--method-parameter", "constraints=50", "--json"}))["objective"]
        .get<double>();
  };
  EXPECT_LT(objective("0.01"), objective("1"));
  const nlohmann::json wu =
      json_of(fit_iris(directory, {"--method", "wu2009", "--method-parameter", "kernel=exponential", "--json"}));
  EXPECT_EQ(wu["parameters"]["kernel"], "exponential");
  EXPECT_EQ(wu["divergence"], "exponential_sum");
}

TEST(Method, WhatIsTunedIsChosenByCrossValidationUnlessGiven) {
  const TemporaryDirectory directory;
  const nlohmann::json tuned = json_of(
      fit_iris(directory, {"--method", "itml", "--tune-for", "knn", "--repeats", "1", "--out", "m.bregmax", "--json"}));
  EXPECT_EQ(tuned["tuning"]["tuned_for"], "knn");
  EXPECT_EQ(tuned["tuning"]["folds"], 3);
  EXPECT_EQ(tuned["tuning"]["table"].size(), 9U + 1);
  EXPECT_EQ(tuned["tuning"]["chosen"]["gamma"], tuned["parameters"]["gamma"]);
  const Outcome shown = run(directory, {"show", "m.bregmax"});
  EXPECT_THAT(shown.out, HasSubstr("knn"));

  const nlohmann::json given =
      json_of(fit_iris(directory, {"--method", "itml", "--method-parameter", "gamma=10", "--json"}));
  EXPECT_TRUE(given["tuning"].is_null());
  EXPECT_EQ(given["parameters"]["gamma"], 10);

  const Outcome lmnn = fit_iris(directory, {"--method", "lmnn", "--method-parameter", "neighbours=1,3",
                                            "--method-parameter", "push=auto", "--scale", "auto"});
  EXPECT_EQ(lmnn.exit_code, 0) << lmnn.err;
  EXPECT_THAT(lmnn.out, HasSubstr("the best of 22 candidates"));
}

TEST(Method, ALimitIsExitCodeOneAndNoFileUnlessAsked) {
  const TemporaryDirectory directory;
  const std::vector<std::string> limited = {"--method", "itml",  "--max-iterations", "1", "--tolerance",
                                            "1e-12",    "--out", "m.bregmax"};
  const Outcome outcome = fit_iris(directory, limited);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("not converged: --max-iterations 1 was reached"));
  EXPECT_THAT(outcome.err, HasSubstr("m.bregmax was not written"));
  EXPECT_EQ(run(directory, {"show", "m.bregmax"}).exit_code, 2);
  std::vector<std::string> kept = limited;
  kept.emplace_back("--keep-partial");
  EXPECT_EQ(fit_iris(directory, kept).exit_code, 1);
  EXPECT_EQ(run(directory, {"show", "m.bregmax"}).exit_code, 0);
}

TEST(Method, MistakesAreToldInOneLine) {
  const TemporaryDirectory directory;
  directory.write("plain.csv", "a,b\n1,2\n3,4\n");
  const auto mistake = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = fit_iris(directory, arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(mistake({"--method", "itlm"}),
              HasSubstr("--method is 'itlm'; allowed: auto, pbdl, smooth, deep, euclidean"));
  EXPECT_THAT(mistake({"--method", "itml", "--lambda", "1"}), HasSubstr("--lambda does not go with --method itml"));
  EXPECT_THAT(mistake({"--method", "itml", "--comparisons", "10"}), HasSubstr("--comparisons does not go"));
  EXPECT_THAT(mistake({"--method", "itml", "--method-parameter", "gamma=0"}),
              HasSubstr("gamma is 0; allowed: a number > 0"));
  EXPECT_THAT(mistake({"--method", "itml", "--method-parameter", "gamma"}), HasSubstr("allowed: NAME=VALUE"));
  EXPECT_THAT(mistake({"--method", "gmml", "--method-parameter", "k=1"}),
              HasSubstr("gmml has no parameter 'k'; allowed: t, lambda"));
  EXPECT_THAT(mistake({"--method", "itml", "--from-labels"}),
              HasSubstr("--from-labels draws comparisons, for pbdl; without it itml learns from the labels"));
  EXPECT_THAT(mistake({"--method", "euclidean", "--folds", "4"}),
              HasSubstr("--folds is about choosing by cross-validation, and nothing of euclidean is to be chosen"));
  EXPECT_THAT(mistake({"--method", "itml", "--method-parameter", "upper=auto"}),
              HasSubstr("upper is 'auto'; allowed: a number >= 0, or several"));
  directory.write("pairs.csv", "0,1,1\n0,100,0\n");
  EXPECT_THAT(
      mistake({"--method", "itml", "--pairs-file", "pairs.csv", "--method-parameter", "gamma=auto"}),
      HasSubstr(
          "the supervision has only 2 items: too few to choose by cross-validation; give --method-parameter gamma"));
  EXPECT_THAT(mistake({"--method", "mahalanobis"}), HasSubstr("give --targets-file"));
  EXPECT_THAT(mistake({"--method", "mlr-auc", "--all-pairs"}), HasSubstr("mlr-auc cannot learn from pairs"));
  EXPECT_THAT(mistake({"--method-parameter", "gamma=1"}), HasSubstr("name one with --method"));
  const Outcome unlabelled = run(directory, {"fit", "plain.csv", "--method", "gmml"});
  EXPECT_EQ(unlabelled.exit_code, 2);
  EXPECT_THAT(unlabelled.err, HasSubstr("there is no label column"));
}

}  // namespace
}  // namespace bregmax::testing
