#include "bregmax/data/table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bregmax/data/matrix_writer.hpp"
#include "data/expect_error.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

Table table(std::string_view text, const TableOptions& options = {}) { return table_from_csv(text, "f.csv", options); }
std::string table_error(std::string_view text, const TableOptions& options = {}) {
  return error_of([&] { table(text, options); });
}

TEST(Table, FindsTheLabelsInALastColumnOfText) {
  const Table t = table("1,2,b\n3,4,a\n5,6,b\n");
  ASSERT_TRUE(t.labels);
  EXPECT_EQ(t.labels->column, "x2");
  EXPECT_THAT(t.labels->of_row, ElementsAre(0, 1, 0));
  EXPECT_THAT(t.labels->class_names, ElementsAre("b", "a"));
  EXPECT_THAT(t.feature_names, ElementsAre("x0", "x1"));
  EXPECT_EQ(t.features, (Matrix(3, 2) << 1, 2, 3, 4, 5, 6).finished());
  EXPECT_EQ(t.source, "f.csv");
}

TEST(Table, FindsTheLabelsByTheNameOfANumericColumn) {
  for (const char* name : {"class", "Label", "TARGET", "species"}) {
    const Table t = table(fmt::format("a,{}\n1,02\n3,1\n4,02\n", name));
    ASSERT_TRUE(t.labels) << name;
    EXPECT_THAT(t.labels->class_names, ElementsAre("02", "1")) << "as spelled in the file";
    EXPECT_THAT(t.labels->of_row, ElementsAre(0, 1, 0));
  }
}

TEST(Table, HasNoLabelsWhenTheLastColumnIsAPlainNumber) {
  const Table t = table("a,b\n1,2\n3,4\n");
  EXPECT_FALSE(t.labels);
  EXPECT_EQ(t.features.cols(), 2);
  EXPECT_FALSE(table("class,b\n1,2\n").labels) << "only a last column is taken by its name";
}

TEST(Table, TakesTheNamedOrNumberedLabelColumn) {
  for (const char* label : {"a", "0"}) {
    const Table t = table("a,b\n1,2\n3,4\n", {.label = label, .piece_column = ""});
    ASSERT_TRUE(t.labels);
    EXPECT_EQ(t.labels->column, "a");
    EXPECT_THAT(t.feature_names, ElementsAre("b"));
  }
  EXPECT_FALSE(table("a,class\n1,2\n", {.label = "none", .piece_column = ""}).labels);
}

TEST(Table, ReadsThePieces) {
  const Table t = table("a,class,piece\n1,x,0\n2,y,3\n", {.label = "auto", .piece_column = "piece"});
  ASSERT_TRUE(t.pieces);
  EXPECT_THAT(*t.pieces, ElementsAre(0, 3));
  ASSERT_TRUE(t.labels) << "the column before the pieces counts as the last";
  EXPECT_EQ(t.labels->column, "class");
  EXPECT_THAT(t.feature_names, ElementsAre("a"));
}

TEST(Table, ReadsTheNamesOfRows) {
  for (const char* id : {"who", "0"}) {
    const Table t = table("who,a,class\nann,1,x\n007,2,y\n", {.id = id});
    EXPECT_THAT(t.names, ElementsAre("ann", "007")) << "as spelled in the file";
    EXPECT_THAT(t.feature_names, ElementsAre("a"));
    EXPECT_EQ(t.labels->column, "class");
  }
  const Table last = table("a,class,who\n1,x,7\n2,y,8\n", {.id = "who"});
  EXPECT_EQ(last.labels->column, "class") << "the column before the names counts as the last";
  EXPECT_THAT(select_rows(last, {1}).names, ElementsAre("8"));
  EXPECT_TRUE(table("a\n1\n2\n").names.empty());
}

TEST(TableBadInput, DetectsNamesOfRowsThatAreNotNames) {
  EXPECT_EQ(table_error("who,a\nann,1\nbob,2\nann,3\n", {.id = "who"}),
            "f.csv: line 4, column who: found \"ann\", which line 2 has, too; allowed: a different name for each row, "
            "since --id names the column");
  EXPECT_THAT(table_error("who,a\nann,1\n,2\n", {.id = "who"}), HasSubstr("line 3, column who"));
  EXPECT_THAT(table_error("a,b\n1,2\n", {.id = "c"}), HasSubstr("the column of --id is \"c\""));
  EXPECT_THAT(table_error("a,b\n1,2\n", {.label = "b", .id = "b"}), HasSubstr("both the label and the id column"));
}

TEST(TableBadInput, DetectsUnknownColumnsAndListsThem) {
  EXPECT_EQ(table_error("a,b\n1,2\n", {.label = "c", .piece_column = ""}),
            "f.csv: the label column is \"c\", which is not a column; the columns and their numbers are a (0), b (1)");
  EXPECT_THAT(table_error("a,b\n1,2\n", {.label = "2", .piece_column = ""}), HasSubstr("a (0), b (1)"));
  EXPECT_THAT(table_error("a,b\n1,2\n", {.label = "-1", .piece_column = ""}), HasSubstr("not a column"));
  EXPECT_THAT(table_error("a,b\n1,2\n", {.label = "auto", .piece_column = "p"}),
              HasSubstr("the piece column is \"p\""));
}

TEST(TableBadInput, DetectsTextInAFeature) {
  EXPECT_EQ(table_error("a,b,class\n1,2,x\n3,oops,y\n"),
            "f.csv: line 3, column b: found \"oops\"; allowed: a finite number, since it is a feature; --ignore b "
            "leaves the column out, --id b takes it as names of the rows, --categories one-hot as categories");
  EXPECT_THAT(table_error("a,b\n1,x\n2,y\n", {.label = "none", .piece_column = ""}), HasSubstr("line 2, column b"));
  EXPECT_THAT(table_error("a,b,class\n1,nan,x\n3,?,y\n"), HasSubstr("line 2, column b: found \"nan\""));
}

TEST(TableBadInput, DetectsADamagedValueInALastColumnOfNumbers) {
  EXPECT_THAT(table_error("a,b\n1,2\n3,4\n5,NA\n"), AllOf(HasSubstr("line 4, column b"), HasSubstr("\"NA\"")));
  EXPECT_TRUE(table("a,b\n1,2\n3,4\n5,NA\n", {.label = "b", .piece_column = ""}).labels);
  EXPECT_TRUE(table("a,class\n1,2\n3,4\n5,4b\n").labels);
}

TEST(TableBadInput, DetectsTablesWithoutFeatures) {
  EXPECT_THAT(table_error("class\nx\ny\n"), HasSubstr("no feature columns"));
}

TEST(TableBadInput, DetectsPiecesThatAreNotWholeNumbers) {
  for (const char* bad : {"-1", "0.5", "1e10"}) {
    EXPECT_THAT(table_error(fmt::format("a,p\n1,0\n2,{}\n", bad), {.label = "none", .piece_column = "p"}),
                AllOf(HasSubstr("f.csv: line 3, column p"), HasSubstr("whole numbers")));
  }
  EXPECT_THAT(table_error("a,p\n1,x\n2,y\n", {.label = "none", .piece_column = "p"}), HasSubstr("line 2, column p"));
  EXPECT_THAT(table_error("a,p\n1,0\n", {.label = "p", .piece_column = "p"}),
              HasSubstr("both the label and the piece"));
}

TEST(ReadTable, ReadsNpyFilesByEndingOrContent) {
  const TemporaryDirectory directory;
  const Matrix matrix = (Matrix(2, 3) << 1, 2, 7, 3, 4, 8).finished();
  MatrixWriter writer(directory / "m.npy", 2, 3);
  writer.append(matrix);
  writer.commit();
  EXPECT_EQ(read_table(directory / "m.npy").features, matrix);
  const Table labelled = read_table(directory / "m.npy", {.label = "2", .piece_column = "0"});
  EXPECT_THAT(labelled.labels->class_names, ElementsAre("7", "8"));
  EXPECT_THAT(*labelled.pieces, ElementsAre(1, 3));
  EXPECT_THAT(labelled.feature_names, ElementsAre("x1"));
  std::filesystem::rename(directory / "m.npy", directory / "m.data");
  EXPECT_EQ(read_table(directory / "m.data").features, matrix);
}

TEST(ReadTable, DetectsNumbersInNpyFilesThatAreNotFinite) {
  const TemporaryDirectory directory;
  MatrixWriter writer(directory / "m.npy", 2, 2);
  writer.append((Matrix(2, 2) << 1, 2, 3, std::numeric_limits<double>::quiet_NaN()).finished());
  writer.commit();
  EXPECT_THAT(error_of([&] { read_table(directory / "m.npy"); }), HasSubstr("row 1, column x1: found \"nan\""));
}

TEST(ReadTable, DetectsMissingFilesDirectoriesAndForeignFiles) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of([&] { read_table(directory / "none.csv"); }), HasSubstr("cannot open"));
  EXPECT_THAT(error_of([&] { read_table(directory / "."); }), HasSubstr("it is a directory"));
  directory.write("m.npy", "1,2\n");
  EXPECT_THAT(error_of([&] { read_table(directory / "m.npy"); }), HasSubstr("not an .npy file"));
}

TEST(SelectRows, KeepsLabelsPiecesAndAllClassNames) {
  const Table whole = table("a,p,class\n1,0,x\n2,1,y\n3,2,x\n", {.label = "auto", .piece_column = "p"});
  const Table part = select_rows(whole, {2, 0});
  EXPECT_EQ(part.features, (Matrix(2, 1) << 3, 1).finished());
  EXPECT_THAT(part.labels->of_row, ElementsAre(0, 0));
  EXPECT_THAT(part.labels->class_names, ElementsAre("x", "y"));
  EXPECT_THAT(*part.pieces, ElementsAre(2, 0));
  EXPECT_EQ(select_rows(whole, {}).features.rows(), 0);
}

TEST(SelectRows, DetectsRowsOutOfRange) {
  const Table whole = table("a\n1\n2\n");
  EXPECT_THAT(error_of([&] { select_rows(whole, {2}); }), HasSubstr("row 2 was asked for; allowed: 0 to 1"));
  EXPECT_THROW(select_rows(whole, {-1}), Error);
}

}  // namespace
}  // namespace bregmax
