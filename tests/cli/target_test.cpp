// A number per row: fit --target, predict, and evaluate with it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

// Houses whose price depends on their size alone.
class Target : public ::testing::Test {
 protected:
  Target() {
    directory_.write("train.csv", houses(0, 60, true));
    directory_.write("test.csv", houses(60, 90, true));
    directory_.write("new.csv", houses(60, 90, false));
  }

  static std::string houses(int first, int last, bool with_price) {
    std::string text = with_price ? "house,size,noise,more,price\n" : "house,size,noise,more\n";
    for (int i = first; i < last; ++i) {
      const double size = 50 + (i * 37) % 101;
      text += fmt::format("h{},{},{},{}", i, size, (i * 53) % 97, (i * 71) % 89);
      text += with_price ? fmt::format(",{}\n", 1000 * size) : "\n";
    }
    return text;
  }
  Outcome bregmax(const Arguments& arguments) const { return run(directory_, arguments); }
  std::string mistake(const Arguments& arguments) const { return mistake_of(bregmax(arguments)); }
  Outcome fit(const Arguments& more = {}) const {
    Arguments arguments = {"fit",
                           "train.csv",
                           "--id",
                           "house",
                           "--target",
                           "price",
                           "--method",
                           "smooth",
                           "--method-parameter",
                           "decay=0.1",
                           "--method-parameter",
                           "feature_price=0",
                           "--out",
                           "m.bregmax"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bregmax(arguments);
  }

  TemporaryDirectory directory_;
};

TEST_F(Target, IsLearnedAndPredicted) {
  const Outcome fitted = fit();
  EXPECT_EQ(fitted.exit_code, 0);
  EXPECT_THAT(fitted.err, HasSubstr("target price (50000 to 150000)"));
  EXPECT_THAT(fitted.out, AllOf(HasSubstr("2000 targets (squared differences of column price), seed 0"),
                                HasSubstr("bregmax predict m.bregmax --train train.csv")));
  EXPECT_THAT(bregmax({"show", "m.bregmax"}).out,
              AllOf(HasSubstr("2000 targets (squared differences of column price) on 60 rows"),
                    HasSubstr("target price; names of rows house")));
  const nlohmann::json shown = json_of(bregmax({"show", "m.bregmax", "--json"}));
  EXPECT_EQ(shown["drawn"], "target_differences");
  EXPECT_EQ(shown["columns"]["target"], "price");

  const Outcome predicted = bregmax({"predict", "m.bregmax", "--train", "train.csv", "--queries", "new.csv"});
  EXPECT_EQ(predicted.exit_code, 0);
  EXPECT_THAT(predicted.out, AllOf(StartsWith("row,predicted,name\n0,"), HasSubstr("\n29,"), HasSubstr(",h89\n")));
  EXPECT_EQ(predicted.err, "") << "there is nothing to compare with";

  const nlohmann::json scored =
      json_of(bregmax({"predict", "m.bregmax", "--train", "train.csv", "--queries", "test.csv", "--json"}));
  EXPECT_EQ(scored["predicted"].size(), 30u);
  EXPECT_EQ(scored["names"][0], "h60");
  EXPECT_EQ(scored["target"], "price");
  EXPECT_GT(scored["r2"], 0.9);
  const nlohmann::json alone =
      json_of(bregmax({"predict", "m.bregmax", "--train", "train.csv", "--queries", "new.csv", "--json"}));
  EXPECT_EQ(alone["predicted"], scored["predicted"]);
  EXPECT_TRUE(alone["r2"].is_null());

  const nlohmann::json evaluated =
      json_of(bregmax({"evaluate", "m.bregmax", "test.csv", "--train", "train.csv", "--json"}));
  for (const char* score : {"r2", "mean_absolute_error", "rank_correlation"}) {
    EXPECT_EQ(evaluated[score], scored[score]) << score;
  }
  EXPECT_GT(evaluated["r2"], evaluated["euclidean"]["r2"]);
  EXPECT_LT(evaluated["mean_absolute_error"], evaluated["euclidean"]["mean_absolute_error"]);
  EXPECT_THAT(bregmax({"evaluate", "m.bregmax", "test.csv", "--train", "train.csv"}).out,
              AllOf(HasSubstr("learned  Euclidean   k = 5"), HasSubstr("\nmean absolute error ")));
}

TEST_F(Target, ScoresGoToStandardErrorAndRowsToAFile) {
  ASSERT_EQ(fit().exit_code, 0);
  const Outcome outcome =
      bregmax({"predict", "m.bregmax", "--train", "train.csv", "--queries", "test.csv", "-k", "1", "--out", "p.csv"});
  EXPECT_THAT(outcome.err, StartsWith("against the targets of the queries: R2 0.9"));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(read_file(directory_ / "p.csv"), StartsWith("row,predicted,name\n0,"));
}

TEST_F(Target, IsChosenBy) {
  const nlohmann::json report = json_of(bregmax({"fit", "train.csv", "--id", "house", "--target", "price", "--method",
                                                 "euclidean", "--scale", "auto", "--json"}));
  EXPECT_EQ(report["tuning"]["tuned_for"], "r2");
  EXPECT_EQ(report["target"], "price");
  EXPECT_EQ(report["plan"]["target_pairs"], nlohmann::json({"2000"}));
  EXPECT_GT(report["scores"].size() + report["tuning"]["table"].size(), 1u);
}

TEST_F(Target, ByNumberInFilesWithoutAHeader) {
  directory_.write("t.csv", "1,5,10\n2,3,20\n3,4,30\n4,9,40\n");
  directory_.write("q.csv", "1.1,5\n3.9,9\n");
  ASSERT_EQ(bregmax({"fit", "t.csv", "--target", "2", "--method", "euclidean", "--out", "m.bregmax"}).exit_code, 0);
  EXPECT_EQ(bregmax({"predict", "m.bregmax", "--train", "t.csv", "--queries", "q.csv", "-k", "1"}).out,
            "row,predicted\n0,10\n1,40\n");
  EXPECT_EQ(json_of(bregmax({"predict", "m.bregmax", "--train", "t.csv", "--queries", "t.csv", "-k", "1", "--target",
                             "2", "--json"}))["r2"],
            1);
}

TEST_F(Target, AnotherColumnOfNumbersCanBePredicted) {
  ASSERT_EQ(fit().exit_code, 0);
  directory_.write("other.csv", "size,noise,more,rent\n60,1,2,6\n70,3,4,7\n");
  EXPECT_EQ(bregmax({"predict", "m.bregmax", "--train", "other.csv", "--queries", "new.csv", "--target", "rent", "-k",
                     "2", "--json"})
                .exit_code,
            0);
}

TEST_F(Target, OfQueriesMayBeEmpty) {
  ASSERT_EQ(fit().exit_code, 0);
  directory_.write("gaps.csv", "size,noise,more,price\n60,1,2,\n70,3,4,70000\n");
  const Outcome outcome = bregmax({"predict", "m.bregmax", "--train", "train.csv", "--queries", "gaps.csv"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(bregmax({"divergence", "m.bregmax", "gaps.csv"}).exit_code, 0);
  EXPECT_THAT(mistake({"predict", "m.bregmax", "--train", "gaps.csv", "--queries", "new.csv"}),
              AllOf(HasSubstr("gaps.csv: line 2, column price"), HasSubstr("--missing drop")));
}

TEST_F(Target, MistakesNameWhatHelps) {
  ASSERT_EQ(fit().exit_code, 0);
  EXPECT_THAT(mistake({"classify", "m.bregmax", "--train", "train.csv", "--queries", "new.csv"}),
              AllOf(HasSubstr("learned from numbers (column price)"), HasSubstr("bregmax predict")));
  EXPECT_THAT(mistake({"evaluate", "m.bregmax", "test.csv"}), HasSubstr("--train is needed"));
  EXPECT_THAT(mistake({"predict", "m.bregmax", "--train", "train.csv", "--queries", "new.csv", "-k", "61"}),
              HasSubstr("-k is 61; allowed: 1 to 60"));
  EXPECT_THAT(mistake({"predict", "m.bregmax", "--train", "new.csv", "--queries", "new.csv"}),
              HasSubstr("the column of --target is \"price\", which is not a column"));
  EXPECT_THAT(mistake({"fit", "train.csv", "--target", "price", "--id", "house", "--method", "nca"}),
              HasSubstr("--target: nca learns from labels"));
  EXPECT_THAT(mistake({"fit", "train.csv", "--target", "house"}), HasSubstr("column house: found \"h0\""));
  EXPECT_THAT(mistake({"fit", "train.csv", "--target", "price", "--all-pairs"}), HasSubstr("--all-pairs"));
  EXPECT_THAT(mistake({"fit", "train.csv", "--target", "price", "--id", "house", "--first-row", "1"}),
              HasSubstr("--first-row"));
  directory_.write("flat.csv", "a,b\n1,5\n2,5\n3,5\n");
  EXPECT_THAT(mistake({"fit", "flat.csv", "--target", "b"}), HasSubstr("flat.csv: column b: all 3 numbers are 5"));
  EXPECT_THAT(mistake({"compare", "builtin:iris", "--tune-for", "r2"}), HasSubstr("--tune-for is 'r2'"));

  ASSERT_EQ(bregmax({"fit", "builtin:iris", "--method", "euclidean", "--out", "iris.bregmax"}).exit_code, 0);
  EXPECT_THAT(mistake({"predict", "iris.bregmax", "--train", "builtin:iris", "--queries", "builtin:iris"}),
              AllOf(HasSubstr("learned from classes (column"), HasSubstr("bregmax classify")));
}

}  // namespace
}  // namespace bregmax::testing
