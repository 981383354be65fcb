#include "bregmax/data/builtin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/expect_error.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

Index members(const Table& table, int class_number) {
  return std::count(table.labels->of_row.begin(), table.labels->of_row.end(), class_number);
}

TEST(Builtin, EveryDatasetIsAsListed) {
  EXPECT_EQ(builtin_datasets().size(), 5u);
  for (const BuiltinDataset& dataset : builtin_datasets()) {
    const Table table = read_table("builtin:" + dataset.name);
    EXPECT_EQ(table.source, "builtin:" + dataset.name);
    EXPECT_EQ(table.features.rows(), dataset.rows) << dataset.name;
    EXPECT_EQ(table.features.cols(), dataset.features) << dataset.name;
    EXPECT_EQ(static_cast<Index>(table.feature_names.size()), dataset.features) << dataset.name;
    ASSERT_TRUE(table.labels) << dataset.name;
    EXPECT_EQ(table.labels->column, "class") << dataset.name;
    EXPECT_EQ(table.labels->classes(), dataset.classes) << dataset.name;
    EXPECT_TRUE(table.features.allFinite()) << dataset.name;
    EXPECT_FALSE(dataset.description.empty() || dataset.source.empty() || dataset.licence.empty()) << dataset.name;
  }
}

TEST(Builtin, IrisIsFishersTable) {
  const Table iris = load_builtin("iris");
  EXPECT_THAT(iris.labels->class_names, ElementsAre("setosa", "versicolor", "virginica"));
  EXPECT_THAT(iris.feature_names, ElementsAre("sepal_length", "sepal_width", "petal_length", "petal_width"));
  for (int c = 0; c < 3; ++c) EXPECT_EQ(members(iris, c), 50);
  EXPECT_EQ(iris.features.row(0), (Matrix(1, 4) << 5.1, 3.5, 1.4, 0.2).finished());
  // Two rows that the file at UCI has wrong.
  EXPECT_EQ(iris.features.row(34), (Matrix(1, 4) << 4.9, 3.1, 1.5, 0.2).finished());
  EXPECT_EQ(iris.features.row(37), (Matrix(1, 4) << 4.9, 3.6, 1.4, 0.1).finished());
  // Published means of the whole table.
  EXPECT_NEAR(iris.features.col(0).mean(), 5.843333, 1e-6);
  EXPECT_NEAR(iris.features.col(3).mean(), 1.199333, 1e-6);
}

TEST(Builtin, WineAndIonosphereHaveTheKnownClassSizes) {
  const Table wine = load_builtin("wine");
  EXPECT_THAT(wine.labels->class_names, ElementsAre("1", "2", "3"));
  EXPECT_THAT((std::vector<Index>{members(wine, 0), members(wine, 1), members(wine, 2)}), ElementsAre(59, 71, 48));
  EXPECT_EQ(wine.features(0, 12), 1065);
  const Table ionosphere = load_builtin("ionosphere");
  EXPECT_THAT(ionosphere.labels->class_names, ElementsAre("g", "b"));
  EXPECT_EQ(members(ionosphere, 0), 225);
  EXPECT_EQ(members(ionosphere, 1), 126);
  EXPECT_LE(ionosphere.features.cwiseAbs().maxCoeff(), 1);
}

TEST(Builtin, BalanceScaleFollowsItsRule) {
  const Table table = load_builtin("balance-scale");
  for (Index row = 0; row < table.features.rows(); ++row) {
    const auto x = table.features.row(row);
    EXPECT_EQ(row, ((x(0) * 5 + x(1)) * 5 + x(2)) * 5 + x(3) - (125 + 25 + 5 + 1));
    const double tilt = x(0) * x(1) - x(2) * x(3);
    const std::string expected = tilt > 0 ? "L" : (tilt < 0 ? "R" : "B");
    EXPECT_EQ(table.labels->class_names[static_cast<std::size_t>(table.labels->of_row[static_cast<std::size_t>(row)])],
              expected);
  }
}

TEST(Builtin, Figure1LiesOnThreeArcs) {
  const Table table = load_builtin("figure1");
  EXPECT_THAT(table.labels->class_names, ElementsAre("1", "2", "3"));
  for (int c = 0; c < 3; ++c) EXPECT_EQ(members(table, c), 200);
  for (Index row = 0; row < table.features.rows(); ++row) {
    const double x = table.features(row, 0), y = table.features(row, 1);
    EXPECT_NEAR(x * x + y * y, 1, 1e-14);
    double degrees = std::atan2(y, x) * 180 / std::numbers::pi;
    if (degrees < 0) degrees += 360;
    EXPECT_EQ(static_cast<int>(degrees / 120), table.labels->of_row[static_cast<std::size_t>(row)]);
  }
}

TEST(Builtin, TakesTheOptionsOfATable) {
  const Table table = load_builtin("wine", {.label = "none", .piece_column = ""});
  EXPECT_FALSE(table.labels);
  EXPECT_EQ(table.features.cols(), 14);
}

TEST(BuiltinBadInput, DetectsAnUnknownNameAndListsTheOthers) {
  EXPECT_THAT(error_of([] { read_table("builtin:irsi"); }),
              AllOf(HasSubstr("\"irsi\""), HasSubstr("iris, wine, ionosphere, balance-scale, figure1")));
  EXPECT_THROW(read_table("builtin:"), Error);
}

}  // namespace
}  // namespace bregmax
