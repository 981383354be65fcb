// What is done with a saved model.
#include <gmock/gmock.h>

#include <sstream>

#include "bregmax/data/table.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "cli/program.hpp"
#include "data/npy.hpp"

namespace bregmax::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Apply : public ::testing::Test {
 protected:
  void SetUp() override {
    const Outcome outcome = run(directory_, {"fit", "builtin:iris", "--pieces", "8", "--comparisons", "200",
                                             "--smoothing", "0.5", "--threads", "1", "--out", "m.bregmax"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    model_ = load_model(directory_ / "m.bregmax");
    iris_ = read_table("builtin:iris");
    rows_ = model_.scaling.apply(iris_.features);
  }

  TemporaryDirectory directory_;
  Model model_;
  Table iris_;
  Matrix rows_;
};

TEST_F(Apply, DivergenceEqualsTheLibrary) {
  const Matrix expected = model_.divergence->matrix(rows_, rows_);
  EXPECT_EQ(run(directory_, {"divergence", "m.bregmax", "builtin:iris", "--out", "d.npy"}).exit_code, 0);
  const Matrix npy = internal::parse_npy(read_file(directory_ / "d.npy"), "d.npy");
  EXPECT_EQ((npy - expected).cwiseAbs().maxCoeff(), 0);

  EXPECT_EQ(run(directory_, {"divergence", "m.bregmax", "builtin:iris", "builtin:iris", "--out", "d.csv"}).exit_code,
            0);
  const Matrix csv = read_table(directory_ / "d.csv", {"none", ""}).features;
  EXPECT_EQ((csv - expected).cwiseAbs().maxCoeff(), 0) << "17 digits";

  const Outcome printed = run(directory_, {"divergence", "m.bregmax", "builtin:iris"});
  EXPECT_EQ(printed.out, read_file(directory_ / "d.csv"));
  const nlohmann::json json = json_of(run(directory_, {"divergence", "m.bregmax", "builtin:iris", "--json"}));
  EXPECT_EQ(json["divergences"][3][99].get<double>(), expected(3, 99));
}

TEST_F(Apply, DivergenceKeepsTheOrderOfItsArguments) {
  directory_.write("a.csv", "5.1,3.5,1.4,0.2\n");
  directory_.write("b.csv", "6.3,3.3,6.0,2.5\n5.7,2.8,4.1,1.3\n");
  const nlohmann::json json = json_of(run(directory_, {"divergence", "m.bregmax", "a.csv", "b.csv", "--json"}));
  EXPECT_EQ(json["rows"], 1);
  EXPECT_EQ(json["columns"], 2);
  const Matrix a = model_.scaling.apply(read_table(directory_ / "a.csv", {"none", ""}).features);
  const Matrix b = model_.scaling.apply(read_table(directory_ / "b.csv", {"none", ""}).features);
  const Matrix expected = model_.divergence->matrix(a, b);
  for (Index c = 0; c < 2; ++c)
    EXPECT_EQ(json["divergences"][0][static_cast<std::size_t>(c)].get<double>(), expected(0, c));
}

TEST_F(Apply, MatchesColumnsByName) {
  directory_.write("plain.csv", "sepal_length,sepal_width,petal_length,petal_width\n5.1,3.5,1.4,0.2\n6,3,5,2\n");
  directory_.write("without.csv", "5.1,3.5,1.4,0.2\n6,3,5,2\n");
  directory_.write("mixed.csv",
                   "petal_width,note,sepal_width,petal_length,sepal_length\n.2,9,3.5,1.4,5.1\n2,7,3,5,6\n");
  const Outcome plain = run(directory_, {"divergence", "m.bregmax", "plain.csv"});
  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_EQ(plain.err, "");
  EXPECT_EQ(run(directory_, {"divergence", "m.bregmax", "without.csv"}).out, plain.out) << "by their order";
  const Outcome mixed = run(directory_, {"divergence", "m.bregmax", "mixed.csv"});
  EXPECT_EQ(mixed.out, plain.out);
  EXPECT_EQ(mixed.err, "bregmax: note: mixed.csv: note is no feature of the model and has no effect\n");
}

// Without a header, columns are called x0, x1, ... by their place, which a label column before them shifts.
TEST(ApplyWithoutNames, TheLabelColumnMayBeElsewhereOrMissing) {
  const TemporaryDirectory directory;
  directory.write("train.csv", "x,1,2\nx,2,1\ny,5,6\ny,6,5\n");
  ASSERT_EQ(run(directory, {"fit", "train.csv", "--label", "0", "--lambda", "1", "--out", "m.bregmax"}).exit_code, 0);
  directory.write("queries.csv", "1,2\n5,6\n");
  const Outcome outcome = run(directory, {"divergence", "m.bregmax", "queries.csv", "--label", "none"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  const Model model = load_model(directory / "m.bregmax");
  const Matrix queries = read_table(directory / "queries.csv", {"none", ""}).features;
  directory.write("printed.csv", outcome.out);
  EXPECT_EQ(read_table(directory / "printed.csv", {"none", ""}).features, model.divergences(queries, queries));
  directory.write("swapped.csv", "x2,x1\n2,1\n6,5\n");
  EXPECT_EQ(run(directory, {"divergence", "m.bregmax", "swapped.csv"}).out, outcome.out)
      << "they have the model's names";
}

TEST_F(Apply, RefusesDataThatDoesNotFit) {
  EXPECT_THAT(mistake_of(run(directory_, {"divergence", "m.bregmax", "builtin:wine"})),
              AllOf(HasSubstr("builtin:wine: there is no column \"sepal_length\""), HasSubstr("alcohol (0)")));
  directory_.write("other.csv", "sepal_length,sepal_width,petal_length,colour\n1,2,3,4\n");
  EXPECT_THAT(mistake_of(run(directory_, {"divergence", "m.bregmax", "other.csv"})),
              HasSubstr("there is no column \"petal_width\""));
  directory_.write("five.csv", "1,2,3,4,5\n");
  EXPECT_THAT(mistake_of(run(directory_, {"divergence", "m.bregmax", "five.csv"})),
              AllOf(HasSubstr("found 5 features"), HasSubstr("the model has 4"), HasSubstr("--ignore")));
  EXPECT_THAT(mistake_of(run(directory_, {"divergence", "m.bregmax", "builtin:iris", "--out", "d.txt"})),
              HasSubstr(".npy or .csv"));
  EXPECT_THAT(mistake_of(run(directory_, {"evaluate", "m.bregmax", "builtin:iris", "--label", "none"})),
              HasSubstr("no label column"));
  EXPECT_THAT(mistake_of(run(directory_, {"cluster", "m.bregmax", "builtin:iris", "-k", "151"})),
              HasSubstr("1 to 150"));
  EXPECT_THAT(mistake_of(run(directory_, {"classify", "m.bregmax", "--train", "builtin:iris", "--queries",
                                          "builtin:iris", "-k", "151"})),
              HasSubstr("1 to 150"));
}

TEST_F(Apply, RefusesDamagedModels) {
  const std::string whole = read_file(directory_ / "m.bregmax");
  directory_.write("short.bregmax", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(mistake_of(run(directory_, {"show", "short.bregmax"})), HasSubstr("truncated"));
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  directory_.write("flipped.bregmax", flipped);
  EXPECT_THAT(mistake_of(run(directory_, {"show", "flipped.bregmax"})), HasSubstr("corrupted"));
}

TEST_F(Apply, RankListsTheNearestFirst) {
  const Outcome outcome =
      run(directory_, {"rank", "m.bregmax", "--queries", "builtin:iris", "--pool", "builtin:iris", "--top", "2"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out.rfind("query,rank,row,divergence,query_label,label\n0,1,0,", 0), 0U)
      << outcome.out.substr(0, 100);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 301);
  const nlohmann::json json = json_of(run(directory_, {"rank", "m.bregmax", "--queries", "builtin:iris", "--pool",
                                                       "builtin:iris", "--top", "3", "--json"}));
  for (std::size_t query : {0U, 77U, 149U}) {
    std::vector<std::pair<double, Index>> expected;
    const Matrix divergences = model_.divergence->matrix(rows_.row(static_cast<Index>(query)), rows_);
    for (Index row = 0; row < rows_.rows(); ++row) expected.emplace_back(divergences(0, row), row);
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(json["rankings"][query].size(), 3U);
    for (std::size_t place = 0; place < 3; ++place) {
      EXPECT_EQ(json["rankings"][query][place]["divergence"], expected[place].first) << query << " " << place;
      EXPECT_EQ(json["rankings"][query][place]["row"], expected[place].second) << query << " " << place;
    }
  }
  EXPECT_EQ(run(directory_, {"rank", "m.bregmax", "--queries", "builtin:iris", "--pool", "builtin:iris", "--top", "2",
                             "--out", "r.csv"})
                .out,
            "");
  EXPECT_EQ(read_file(directory_ / "r.csv"), outcome.out);
}

TEST_F(Apply, ClusterAssignsEveryRow) {
  const Outcome outcome = run(directory_, {"cluster", "m.bregmax", "builtin:iris", "-k", "3", "--restarts", "5"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 151);
  EXPECT_THAT(outcome.err, HasSubstr("Rand index"));
  const nlohmann::json json =
      json_of(run(directory_, {"cluster", "m.bregmax", "builtin:iris", "-k", "3", "--restarts", "5", "--json"}));
  EXPECT_EQ(json["cluster_of_row"].size(), 150U);
  EXPECT_EQ(json["centroids"][0].size(), 4U);
  EXPECT_GT(json["rand_index"].get<double>(), 0.8);
}

TEST_F(Apply, ClassifyEqualsTheLibrary) {
  const nlohmann::json json = json_of(
      run(directory_, {"classify", "m.bregmax", "--train", "builtin:iris", "--queries", "builtin:iris", "--json"}));
  const Classification expected = classify_nearest(*model_.divergence, rows_, iris_.labels->of_row, rows_, 5);
  for (std::size_t row = 0; row < 150; ++row) {
    const auto predicted = static_cast<std::size_t>(expected.predicted[row]);
    EXPECT_EQ(json["predicted"][row], iris_.labels->class_names[predicted]);
  }
  EXPECT_EQ(json["accuracy"].get<double>(), expected_accuracy(expected, iris_.labels->of_row));
}

TEST_F(Apply, ClassesAreMatchedByNameNotByOrder) {
  // The test file lists virginica first; numbered by first appearance, its classes differ from those of the training.
  directory_.write("test.csv", "6.3,3.3,6.0,2.5,virginica\n5.1,3.5,1.4,0.2,setosa\n");
  const nlohmann::json json =
      json_of(run(directory_, {"classify", "m.bregmax", "--train", "builtin:iris", "--queries", "test.csv", "--json"}));
  EXPECT_EQ(json["predicted"], nlohmann::json({"virginica", "setosa"}));
  EXPECT_EQ(json["accuracy"], 1.0);
  const nlohmann::json scores =
      json_of(run(directory_, {"evaluate", "m.bregmax", "test.csv", "--train", "builtin:iris", "--json"}));
  EXPECT_EQ(scores["knn_accuracy"], 1.0);
}

}  // namespace
}  // namespace bregmax::testing
