// Roles of columns: what a file of rows may hold beside features and labels.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kPeople =
    "who,age,height,class\nann,1,2,x\nbob,2,1,x\ncid,1.5,2.5,x\ndan,5,6,y\neve,6,5,y\nfay,6.5,6,y\n";

// The columns of people.csv, and a model of its features.
class Columns : public ::testing::Test {
 protected:
  Columns() { directory_.write("people.csv", kPeople); }

  Outcome bregmax(const std::vector<std::string>& arguments) { return run(directory_, arguments); }
  Outcome fit(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"fit",       "people.csv", "--method", "euclidean",
                                          "--threads", "1",          "--out",    "m.bregmax"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bregmax(arguments);
  }

  TemporaryDirectory directory_;
};

TEST_F(Columns, NamesOfRowsAreNoFeature) {
  const nlohmann::json report = json_of(fit({"--id", "who", "--json"}));
  EXPECT_EQ(report["d"], 2);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"divergence", "m.bregmax", "people.csv"},
           {"evaluate", "m.bregmax", "people.csv"},
           {"rank", "m.bregmax", "--queries", "people.csv", "--pool", "people.csv"},
           {"cluster", "m.bregmax", "people.csv", "-k", "2"},
           {"classify", "m.bregmax", "--train", "people.csv", "--queries", "people.csv"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--id", "0", "--json"});
    EXPECT_EQ(bregmax(arguments).exit_code, 0) << command.front();
  }
  EXPECT_EQ(bregmax({"compare", "people.csv", "--id", "who", "--methods", "euclidean", "--folds", "3"}).exit_code, 0);
}

TEST_F(Columns, DetectsTwoRowsOfOneName) {
  directory_.write("people.csv", "who,age,class\nann,1,x\nbob,2,x\nann,3,y\n");
  EXPECT_THAT(mistake_of(fit({"--id", "who"})),
              AllOf(HasSubstr("line 4, column who"), HasSubstr("line 2"), HasSubstr("--id")));
}

// ---- What is told before the work ----

TEST_F(Columns, ADataLineComesBeforeThePlan) {
  const Outcome outcome = bregmax({"fit", "people.csv", "--id", "who", "--lambdas", "1,10", "--threads", "1"});
  EXPECT_THAT(
      outcome.err,
      StartsWith("bregmax: people.csv: 6 rows, 2 features (age, height); label class (2 classes: x 3, y 3); left "
                 "out: who (names of rows)\nplan: "));
  EXPECT_THAT(fit({"--id", "who", "--json"}).err, Not(HasSubstr("6 rows")));
  EXPECT_THAT(bregmax({"compare", "people.csv", "--id", "who", "--methods", "euclidean", "--folds", "3"}).err,
              StartsWith("bregmax: people.csv: 6 rows, 2 features"));
}

TEST_F(Columns, AHeaderThatCountsIsNoRow) {
  directory_.write("people.csv", "0,1,class\n1,2,x\n2,1,x\n1.5,2.5,x\n5,6,y\n6,5,y\n6.5,6,y\n");
  directory_.write("new.csv", "0,1\n1,2\n2,1\n");
  ASSERT_EQ(fit({}).exit_code, 0);
  const Outcome predicted =
      bregmax({"classify", "m.bregmax", "--train", "people.csv", "--queries", "new.csv", "-k", "1"});
  EXPECT_EQ(predicted.out, "row,predicted,share\n0,x,1\n1,x,1\n");
  EXPECT_THAT(predicted.err, AllOf(HasSubstr("note: new.csv: the first line counts"), HasSubstr("--header no")));
  EXPECT_EQ(json_of(bregmax({"classify", "m.bregmax", "--train", "people.csv", "--queries", "new.csv", "-k", "1",
                             "--header", "no", "--label", "2", "--query-label", "none", "--json"}))["queries"],
            3)
      << "by their order";
}

TEST_F(Columns, TheIndexOfPandasIsLeftOutEverywhere) {
  directory_.write("people.csv", ",age,height,class\n0,1,2,x\n1,2,1,x\n2,1.5,2.5,x\n3,5,6,y\n4,6,5,y\n5,6.5,6,y\n");
  const Outcome outcome = fit({});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("note: people.csv: the first column numbers the rows and is left out"));
  const Outcome show = bregmax({"show", "m.bregmax", "--json"});
  EXPECT_EQ(json_of(show)["feature_names"], nlohmann::json({"age", "height"}));
  directory_.write("new.csv", ",height,age\n7,2,1\n");
  EXPECT_EQ(bregmax({"divergence", "m.bregmax", "new.csv", "people.csv"}).out.substr(0, 2), "0,");
}

TEST_F(Columns, DelimitersAndDecimalCommasAreRead) {
  directory_.write("people.csv", "age;height;class\n1;2,5;x\n2;1,5;x\n5;6,5;y\n6;5,5;y\n");
  EXPECT_THAT(mistake_of(fit({})),
              AllOf(HasSubstr("line 2, column height: found \"2,5\""), HasSubstr("--decimal comma")));
  EXPECT_EQ(json_of(fit({"--decimal", "comma", "--json"}))["d"], 2);
  directory_.write("people.csv", "age|height|class\n1|2.5|x\n2|1.5|x\n5|6.5|y\n6|5.5|y\n");
  EXPECT_EQ(json_of(fit({"--delimiter", "|", "--json"}))["d"], 2);
  EXPECT_THAT(mistake_of(fit({"--delimiter", "ab"})), AllOf(HasSubstr("--delimiter is 'ab'"), HasSubstr("semicolon")));
}

TEST_F(Columns, PackedFilesAndStandardInputAreRead) {
  const std::string expected = bregmax({"fit", "people.csv", "--id", "who", "--method", "euclidean", "--json"}).out;
  const Outcome outcome =
      run_script(directory_,
                 "gzip -k people.csv && bregmax fit people.csv.gz --id who --method euclidean --out gz.bregmax && "
                 "bregmax fit - --id who --method euclidean --out m.bregmax < people.csv && "
                 "bregmax divergence m.bregmax people.csv --out a.npy && cat a.npy | bregmax divergence m.bregmax - "
                 "--features 0,1");
  EXPECT_NE(outcome.exit_code, 0) << "six columns are no rows of the model";
  EXPECT_THAT(outcome.err, HasSubstr("--features"));
  const auto exit_code_of = [this](const std::string& script) { return run_script(directory_, script).exit_code; };
  EXPECT_EQ(exit_code_of("cut -d, -f2,3 people.csv | bregmax divergence gz.bregmax - --out b.npy"), 0);
  EXPECT_EQ(exit_code_of("bregmax divergence m.bregmax people.csv --out c.npy && cmp b.npy c.npy"), 0);
  EXPECT_THAT(run_script(directory_, "bregmax rank m.bregmax --queries - --pool - < people.csv").err,
              HasSubstr("standard input is empty"));
}

TEST_F(Columns, MissingValuesAreAsTheModelLearnedThem) {
  directory_.write("people.csv", "age,height,class\n1,2,x\n2,,x\n1.5,3,x\n5,6,y\n6,NA,y\n6.5,7,y\n");
  directory_.write("new.csv", "age,height\n1,4.5\n1,?\n");
  EXPECT_THAT(mistake_of(fit({})), AllOf(HasSubstr("line 3, column height"), HasSubstr("--missing mean")));
  EXPECT_EQ(json_of(fit({"--missing", "mean", "--json"}))["n"], 6);
  const Outcome outcome = bregmax({"divergence", "m.bregmax", "new.csv"});
  EXPECT_EQ(outcome.out, "0,0\n0,0\n") << "4.5 is the mean";
  EXPECT_THAT(outcome.err, HasSubstr("1 missing value is replaced by the mean"));
  EXPECT_THAT(mistake_of(bregmax({"divergence", "m.bregmax", "new.csv", "--missing", "refuse"})), HasSubstr("line 3"));

  const Outcome dropped = fit({"--missing", "drop", "--json"});
  EXPECT_EQ(json_of(dropped)["n"], 4);
  EXPECT_THAT(dropped.err, HasSubstr("2 of 6 rows have missing values and are left out (line 3, 6)"));
}

// Row numbers of other files, and of results, would mean other rows.
TEST_F(Columns, RowsThatAreLeftOutShiftNoNumbers) {
  directory_.write("people.csv", "who,age,height,class\nann,1,2,x\nbob,,1,x\ncid,1.5,2.5,x\ndan,5,6,y\neve,6,5,y\n");
  directory_.write("pairs.csv", "0,1,1\n0,3,0\n");
  ASSERT_EQ(fit({"--id", "who", "--missing", "drop"}).exit_code, 0);
  EXPECT_THAT(mistake_of(bregmax({"fit", "people.csv", "--ignore", "who", "--missing", "drop", "--pairs-file",
                                  "pairs.csv", "--lambda", "1"})),
              AllOf(HasSubstr("pairs.csv"), HasSubstr("--id")));
  directory_.write("new.csv", "age,height\n,4.5\n1,2\n");
  EXPECT_THAT(mistake_of(bregmax({"cluster", "m.bregmax", "new.csv", "-k", "1"})),
              AllOf(HasSubstr("new.csv: 1 row"), HasSubstr("--id"), HasSubstr("--missing mean")));
  EXPECT_EQ(bregmax({"cluster", "m.bregmax", "people.csv", "-k", "1"}).exit_code, 0) << "the model knows their names";
}

TEST_F(Columns, NamesDatesAndCategoriesNeedOneOptionEach) {
  std::string table = ",name,joined,colour,age,class\n", shuffled = "colour,age,name\n";
  for (int i = 0; i < 24; ++i) {
    const std::string colour = i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue";
    table += fmt::format("{},person {},2024-01-{:02},{},{},{}\n", i, i, 1 + i, colour, i % 5, i % 2 == 0 ? "x" : "y");
    shuffled += fmt::format("{},{},person {}\n", colour, i % 5, i);
  }
  directory_.write("people.csv", table);
  directory_.write("new.csv", shuffled);
  EXPECT_THAT(mistake_of(fit({})), AllOf(HasSubstr("column name"), HasSubstr("--id name")));
  EXPECT_THAT(mistake_of(fit({"--id", "name"})), AllOf(HasSubstr("column joined"), HasSubstr("--ignore joined")));
  EXPECT_THAT(mistake_of(fit({"--id", "name", "--ignore", "joined"})),
              AllOf(HasSubstr("column colour"), HasSubstr("--categories one-hot")));
  const Outcome outcome = fit({"--id", "name", "--ignore", "joined", "--categories", "one-hot"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("24 rows, 4 features (colour=red, colour=green, colour=blue, age); label class"));
  EXPECT_EQ(bregmax({"divergence", "m.bregmax", "new.csv"}).out,
            bregmax({"divergence", "m.bregmax", "people.csv"}).out);
  EXPECT_THAT(bregmax({"show", "m.bregmax"}).out,
              HasSubstr("columns     label class; names of rows name; no features x0, joined\n"));
  const nlohmann::json columns = json_of(bregmax({"show", "m.bregmax", "--json"}))["columns"];
  EXPECT_EQ(columns["features"][1]["category"], "green");
  EXPECT_TRUE(columns["features"][3]["category"].is_null());
  EXPECT_EQ(columns["features"][3]["fill"], 46. / 24);
  directory_.write("new.csv", "colour,age\npink,1\n");
  EXPECT_THAT(mistake_of(bregmax({"divergence", "m.bregmax", "new.csv"})),
              AllOf(HasSubstr("line 2, column colour: found \"pink\""), HasSubstr("red, green, blue")));
}

TEST_F(Columns, ANumericTargetIsNotTakenAsClasses) {
  std::string table = "a,b,target\n";
  for (int i = 0; i < 100; ++i) table += fmt::format("{},{},{}\n", i % 7, i % 11, 25 + i % 48);
  directory_.write("people.csv", table);
  EXPECT_THAT(mistake_of(fit({})), AllOf(HasSubstr("people.csv: column target"), HasSubstr("48 different numbers"),
                                         HasSubstr("--label target"), HasSubstr("--target target")));
}

TEST_F(Columns, Latin1IsReadWithANote) {
  directory_.write("people.csv", "age,class\n1,Z\xfcrich\n2,Z\xfcrich\n5,Gen\xe8ve\n6,Gen\xe8ve\n");
  const Outcome outcome = fit({"--json"});
  EXPECT_THAT(outcome.err, HasSubstr("Latin-1: \"Zürich\""));
  EXPECT_EQ(json_of(bregmax({"show", "m.bregmax", "--json"}))["class_names"], nlohmann::json({"Zürich", "Genève"}));
}

TEST_F(Columns, AValueThatFlattensItsFeatureIsNotedAndAHugeOneRefused) {
  const std::string rows = "a,b,class\n1,1,x\n2,2,x\n3,3,x\n4,1,x\n5,2,x\n6,3,y\n7,1,y\n8,2,y\n9,3,y\n1,";
  directory_.write("people.csv", rows + "1e50,y\n");
  EXPECT_THAT(fit({}).err, HasSubstr("line 11, column b: found \"1e50\""));
  directory_.write("people.csv", rows + "1e300,y\n");
  EXPECT_THAT(mistake_of(fit({})),
              AllOf(HasSubstr("people.csv: row 9 (from 0), column b: found 1e+300"), HasSubstr("--ignore")));
  EXPECT_THAT(mistake_of(bregmax({"compare", "people.csv", "--methods", "euclidean"})), HasSubstr("column b"));
}

}  // namespace
}  // namespace bregmax::testing
