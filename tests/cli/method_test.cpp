// The methods as a user runs them.

#include <gmock/gmock.h>

#include <random>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
              HasSubstr("there is no column \"sepal_length\""));
  EXPECT_THAT(mistake({"--picture", "a.bregmax"}), HasSubstr("--picture"));
  EXPECT_THAT(mistake({"--features", "0,1"}), HasSubstr("--features and --categories do not go with --start"));
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

TEST(Method, FitsByGradientsDoNotDependOnTheNumberOfThreads) {
  for (const std::vector<std::string>& method : {std::vector<std::string>{"--method", "smooth"},
                                                 {"--method", "deep", "--method-parameter", "steps=100"},
                                                 {"--candidates", "euclidean,smooth"}}) {
    const TemporaryDirectory directory;
    for (const std::string threads : {"1", "2"}) {
      std::vector<std::string> fit = {"fit", "builtin:iris", "--threads", threads, "--out", "model" + threads};
      fit.insert(fit.end(), method.begin(), method.end());
      EXPECT_EQ(run(directory, fit).exit_code, 0);
      const Outcome applied = run(
          directory, {"divergence", "model" + threads, "builtin:iris", "--threads", "1", "--out", threads + ".npy"});
      EXPECT_EQ(applied.exit_code, 0) << applied.err;
    }
    EXPECT_EQ(read_file(directory / "1.npy"), read_file(directory / "2.npy")) << method[1];
  }
}

// What a run by gradients that did not reach its end leaves behind: nothing unless it is asked for, and then a model
// whose divergences are numbers.
TEST(Method, FitsByGradientsThatEndEarlyHaveAStatusAndAModel) {
  struct Case {
    std::vector<std::string> options;
    const char *status, *message;
  };
  const Case cases[] = {
      {{"--max-iterations", "3"}, "iteration_limit", "not converged: --max-iterations 3 was reached"},
      {{"--time-limit", "0.2", "--method-parameter", "steps=1000000"},
       "time_limit",
       "not converged: --time-limit 0.2 was reached"},
      {{"--method-parameter", "rate=1e30"},
       "numerical_error",
       "the training diverged (a smaller rate helps), and the best model so far"},
      {{"--method-parameter", "rate=1e30", "--scale", "none"}, "numerical_error", "or --scale standard"}};
  for (const char* method : {"smooth", "deep"}) {
    for (const Case& one : cases) {
      SCOPED_TRACE(std::string(method) + " " + one.options.front());
      const TemporaryDirectory directory;
      std::vector<std::string> fit = {"--method", method, "--method-parameter", "decay=0.001", "--out", "m", "--json"};
      fit.insert(fit.end(), one.options.begin(), one.options.end());
      const Outcome outcome = fit_iris(directory, fit);
      EXPECT_EQ(outcome.exit_code, 1);
      EXPECT_THAT(outcome.err, HasSubstr(one.message));
      EXPECT_EQ(directory.files(), 0U);
      fit.emplace_back("--keep-partial");
      EXPECT_EQ(json_of(fit_iris(directory, fit))["status"], one.status);
      const Outcome applied = run(directory, {"divergence", "m", "builtin:iris", "--out", "d.csv"});
      EXPECT_EQ(applied.exit_code, 0) << applied.err;
      const std::string divergences = read_file(directory / "d.csv");
      EXPECT_GT(divergences.size(), 150U * 150U);
      EXPECT_THAT(divergences, Not(HasSubstr("nan")));
      EXPECT_THAT(divergences, Not(HasSubstr("inf")));
    }
  }
}

TEST(Method, FitsThatDoNotFitIntoMemoryAreRefused) {
  const TemporaryDirectory directory;
  const auto mistake = [&](const std::vector<std::string>& options) {
    return mistake_of(fit_iris(directory, options));
  };
  EXPECT_THAT(
      mistake({"--method", "deep", "--method-parameter", "width=100000", "--method-parameter", "hidden_layers=20"}),
      HasSubstr("deep would need"));
  EXPECT_THAT(mistake({"--method", "smooth", "--memory-limit", "1e-6"}),
              HasSubstr("above the limit of 1e-06 GB; fewer pieces"));
  EXPECT_THAT(mistake({"--method", "smooth", "--method-parameter", "rate=nan"}), HasSubstr("rate is"));
  EXPECT_THAT(mistake({"--method", "itml", "--memory-limit", "1"}), HasSubstr("--memory-limit does not go with itml"));
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

// Six features of which three have another mean in each class, and 34 of noise.
std::string rows_with_noise() {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::string csv = "height,weight,depth,age,speed,light";
  for (int f = 0; f < 34; ++f) csv += ",noise" + std::to_string(f);
  csv += ",class\n";
  for (int row = 0; row < 150; ++row) {
    for (int f = 0; f < 40; ++f) csv += std::to_string(normal(random) + (f < 6 && f % 3 == row % 3 ? 1.8 : 0)) + ",";
    csv += std::string(1, static_cast<char>('a' + row % 3)) + "\n";
  }
  return csv;
}

TEST(Method, APricePerFeatureLeavesThoseThatMatterAndTheyAreNamed) {
  const TemporaryDirectory directory;
  directory.write("rows.csv", rows_with_noise());
  for (const auto& [method, price] : {std::pair("smooth", "0.03"), std::pair("deep", "0.1")}) {
    const std::string feature_price = std::string("feature_price=") + price;
    const nlohmann::json fit = json_of(
        run(directory, {"fit", "rows.csv", "--method", method, "--method-parameter", "decay=0.001",
                        "--method-parameter", feature_price, "--threads", "1", "--out", "m.bregmax", "--json"}));
    std::vector<std::string> read;
    for (const nlohmann::json& feature : fit["features_read"]) read.push_back(feature["name"]);
    ASSERT_GE(read.size(), 6U) << method;
    EXPECT_LE(read.size(), 12U) << method << ": most of the noise is dropped";
    const std::vector<std::string> first(read.begin(), read.begin() + 6);
    EXPECT_THAT(first, ::testing::UnorderedElementsAre("height", "weight", "depth", "age", "speed", "light")) << method;
    EXPECT_GE(fit["features_read"][0]["norm"], fit["features_read"][1]["norm"]);

    EXPECT_EQ(json_of(run(directory, {"show", "m.bregmax", "--json"}))["features_read"], fit["features_read"]);
    const std::string text = std::to_string(read.size()) + " of 40: " + read[0] + ", " + read[1] + ", ";
    const std::string shown = run(directory, {"show", "m.bregmax"}).out;
    EXPECT_THAT(shown, HasSubstr("features    " + text)) << method;
    EXPECT_THAT(shown, HasSubstr("; " + std::to_string(40 - read.size()) + " do not count")) << method;
  }
}

TEST(Method, LongListsOfFeaturesAreCutInTextAndWholeInJson) {
  const TemporaryDirectory directory;
  directory.write("rows.csv", rows_with_noise());
  const std::vector<std::string> fit = {"fit", "rows.csv", "--method", "gmml", "--method-parameter", "t=0.5"};
  EXPECT_THAT(run(directory, fit).out, HasSubstr(", and 28 more\n"));
  std::vector<std::string> as_json = fit;
  as_json.emplace_back("--json");
  EXPECT_EQ(json_of(run(directory, as_json))["features_read"].size(), 40U);
  const Outcome trees = fit_iris(directory, {"--method", "gb-lmnn", "--json"});
  EXPECT_TRUE(json_of(trees)["features_read"].is_null()) << "trees have no norms";
}

}  // namespace
}  // namespace bregmax::testing
