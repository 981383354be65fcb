#include <gmock/gmock.h>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

void expect_keys(const nlohmann::json& object, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key;
}

TEST(Json, FitHasThePromisedKeys) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"fit", "builtin:iris", "--pieces", "5", "--comparisons", "100", "--threads",
                                          "1", "--out", "m.bregmax", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  const nlohmann::json fit = json_of(outcome);
  expect_keys(fit, {"status",     "objective", "lower_bound", "relative_gap",
                    "loss",       "lipschitz", "lambda",      "pieces",
                    "n",          "d",         "supervision", "solver",
                    "iterations", "seconds",   "certificate", "convexity_violation",
                    "tolerance",  "items",     "scale",       "smoothing",
                    "seed",       "model"});
  EXPECT_EQ(fit["dual_objective"], fit["lower_bound"]) << "the name before version 0.2";
  EXPECT_EQ(fit["status"], "optimal");
  EXPECT_EQ(fit["pieces"], 5);
  EXPECT_EQ(fit["n"], 150);
  EXPECT_EQ(fit["d"], 4);
  EXPECT_EQ(fit["items"], 100);
  EXPECT_EQ(fit["supervision"], "comparisons");
  EXPECT_EQ(fit["model"], "m.bregmax");
  EXPECT_TRUE(fit["certificate"]["valid_up_to_lipschitz"].is_null()) << "infinity";
  EXPECT_LE(fit["relative_gap"].get<double>(), 1e-8);
  const double objective = fit["loss"].get<double>() + fit["lambda"].get<double>() * fit["lipschitz"].get<double>();
  EXPECT_NEAR(fit["objective"].get<double>(), objective, 1e-9 * objective);
  EXPECT_NEAR(fit["certificate"]["objective"].get<double>(), objective, 1e-7 * objective);

  const nlohmann::json show = json_of(run(directory, {"show", "m.bregmax", "--json"}));
  for (const char* key : {"objective", "lower_bound", "lipschitz", "loss", "lambda", "pieces", "n", "d", "status"}) {
    EXPECT_EQ(show[key], fit[key]) << key;
  }
}

TEST(Json, EvaluateHasTheFiveScoresAsFractions) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run(directory, {"fit", "builtin:iris", "--pieces", "5", "--comparisons", "100", "--threads", "1", "--out",
                            "m.bregmax"})
                .exit_code,
            0);
  const nlohmann::json without = json_of(run(directory, {"evaluate", "m.bregmax", "builtin:iris", "--json"}));
  for (const char* score : {"rand_index", "purity", "auc", "average_precision", "precision_at_10"}) {
    EXPECT_GT(without[score].get<double>(), 0.5) << score;
    EXPECT_LE(without[score].get<double>(), 1) << score;
  }
  EXPECT_TRUE(without.contains("knn_accuracy"));
  EXPECT_TRUE(without["knn_accuracy"].is_null());
  EXPECT_THAT(mistake_of(run(directory, {"evaluate", "m.bregmax", "builtin:iris", "-k", "3"})),
              ::testing::HasSubstr("-k requires --train"));
  const nlohmann::json with =
      json_of(run(directory, {"evaluate", "m.bregmax", "builtin:iris", "--train", "builtin:iris", "--json"}));
  EXPECT_GT(with["knn_accuracy"].get<double>(), 0.8);
}

TEST(Json, DatasetsAreOneObject) {
  const TemporaryDirectory directory;
  const nlohmann::json listed = json_of(run(directory, {"datasets", "--json"}))["datasets"];
  ASSERT_EQ(listed.size(), 5U);
  for (const nlohmann::json& dataset : listed) {
    expect_keys(dataset, {"name", "rows", "features", "classes", "licence", "source"});
  }
}

TEST(Json, DemoTellsItsScoresAndWritesThePicture) {
  const TemporaryDirectory directory;
  const Outcome outcome = run(directory, {"demo", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  const nlohmann::json demo = json_of(outcome);
  EXPECT_EQ(demo["status"], "optimal");
  EXPECT_EQ(demo["picture"], "bregmax-demo.svg");
  for (const char* score : {"rand_index", "purity", "auc", "average_precision", "knn_accuracy"}) {
    EXPECT_GT(demo["learned"][score].get<double>(), demo["euclidean_standardised"][score].get<double>()) << score;
  }
  const std::string picture = read_file(directory / "bregmax-demo.svg");
  EXPECT_EQ(picture.rfind("<svg ", 0), 0U);
  EXPECT_EQ(picture.substr(picture.size() - 7), "</svg>\n");
}

}  // namespace
}  // namespace bregmax::testing
