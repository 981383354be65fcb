// Roles of columns, headers, delimiters, missing values and categories, and the recipe that applies them to new rows.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "bregmax/data/table.hpp"
#include "data/expect_error.hpp"
#include "data/file.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TemporaryDirectory;

Table columns_of(std::string_view text, const TableOptions& options = {}) {
  return table_from_csv(text, "f.csv", options);
}
std::string columns_error(std::string_view text, const TableOptions& options = {}) {
  return error_of([&] { columns_of(text, options); });
}
std::string rows_that_count(const std::string& header, int first, int rows) {
  std::string text = header;
  for (int i = 0; i < rows; ++i) text += fmt::format("{},{}.5,{}\n", first + i, i % 3, i % 2 == 0 ? "x" : "y");
  return text;
}

// ---- Headers ----

TEST(Header, OfNumbersThatCountIsAHeader) {
  const Table t = columns_of("0,1,2\n5,6,7\n8,9,1\n");
  EXPECT_EQ(t.features.rows(), 2);
  EXPECT_THAT(t.feature_names, ElementsAre("0", "1", "2"));
  EXPECT_THAT(t.notes, ElementsAre(AllOf(HasSubstr("f.csv: the first line counts"), HasSubstr("--header no"))));
  EXPECT_THAT(columns_of(",0,1\n0,5,6\n1,8,9\n").feature_names, ElementsAre("0", "1")) << "with the index of pandas";
}

TEST(Header, OfOtherNumbersIsARow) {
  for (const char* text : {"1,2,3\n5,6,7\n", "0,1,3\n5,6,7\n", "0.0,1,2\n5,6,7\n", "0\n5\n"}) {
    const Table t = columns_of(text);
    EXPECT_EQ(t.features.rows(), 2) << text;
    EXPECT_THAT(t.notes, IsEmpty());
  }
  EXPECT_EQ(columns_of("0,1,2\n").features.rows(), 1) << "there would be no rows";
}

TEST(Header, IsDecidedByTheOption) {
  EXPECT_EQ(columns_of("0,1,2\n5,6,7\n", {.header = HeaderLine::kNo}).features.rows(), 2);
  const Table t = columns_of("1990,2000\n5,6\n", {.header = HeaderLine::kYes});
  EXPECT_THAT(t.feature_names, ElementsAre("1990", "2000"));
  EXPECT_THAT(t.notes, IsEmpty());
  EXPECT_EQ(
      columns_of("a,b,c\nd,e,f\n", {.label = "2", .header = HeaderLine::kNo, .categories = TextCategories::kOneHot})
          .features.rows(),
      2);
}

// ---- Numbers of the rows ----

TEST(RowNumbers, OfPandasAreLeftOut) {
  const Table t = columns_of(",a,b,class\n0,1,2,x\n1,2,1,x\n2,5,6,y\n");
  EXPECT_THAT(t.feature_names, ElementsAre("a", "b"));
  EXPECT_THAT(t.notes, ElementsAre(AllOf(HasSubstr("numbers the rows"), HasSubstr("--features"))));
  EXPECT_THAT(t.left_out, ElementsAre("x0 (numbers of the rows)"));
  EXPECT_THAT(columns_of(",a,b\n7,1,2\n3,2,1\n").feature_names, ElementsAre("a", "b")) << "of shuffled rows";
  EXPECT_THAT(columns_of(",a,b\n1,1,2\n2,2,1\n").feature_names, ElementsAre("a", "b")) << "of R";
  EXPECT_THAT(columns_of(",a,b\n0,1,2\n1,2,1\n", {.features = {"0", "a"}}).feature_names, ElementsAre("x0", "a"));
}

TEST(RowNumbers, MayHaveAnUnnamedColumnOfMeasurements) {
  EXPECT_THAT(columns_of(",a\n.5,1\n.7,2\n").feature_names, ElementsAre("x0", "a"));
  EXPECT_THAT(columns_of(",a\n3,1\n3,2\n").feature_names, ElementsAre("x0", "a")) << "not all different";
}

TEST(RowNumbers, WithoutAHeaderOrWithTheirNameAreLeftOutIfTheyCount) {
  for (const int first : {0, 1}) {
    for (const char* header : {"", "id,a,class\n", "Index,a,class\n", "Unnamed: 0,a,class\n"}) {
      EXPECT_EQ(columns_of(rows_that_count(header, first, 6)).features.cols(), 1) << header << first;
    }
  }
  EXPECT_EQ(columns_of(rows_that_count("", 2, 6)).features.cols(), 2) << "they count from 2";
  EXPECT_EQ(columns_of(rows_that_count("", 0, 4)).features.cols(), 2) << "by chance";
}

TEST(RowNumbers, AreAFeatureUnderAnotherNameWithANote) {
  const Table t = columns_of(rows_that_count("time,a,class\n", 0, 6));
  EXPECT_THAT(t.feature_names, ElementsAre("time", "a"));
  EXPECT_THAT(t.notes, ElementsAre(AllOf(HasSubstr("time"), HasSubstr("--ignore time"))));
}

// ---- Roles ----

TEST(Roles, OfIgnoredAndChosenColumns) {
  const std::string text = "date,a,b,class\n2024-01-31,1,2,x\n2024-02-01,3,4,y\n";
  const Table ignored = columns_of(text, {.ignore = {"date", "2"}});
  EXPECT_THAT(ignored.feature_names, ElementsAre("a"));
  EXPECT_THAT(ignored.left_out, ElementsAre("date (--ignore)", "b (--ignore)"));
  const Table chosen = columns_of(text, {.features = {"b", "a"}});
  EXPECT_THAT(chosen.feature_names, ElementsAre("a", "b")) << "in the order of the file";
  EXPECT_EQ(chosen.labels->column, "class");
  EXPECT_THAT(chosen.left_out, ElementsAre("date (not in --features)"));
  EXPECT_THAT(columns_error(text, {.ignore = {"dat"}}), AllOf(HasSubstr("--ignore"), HasSubstr("date (0)")));
  EXPECT_THAT(columns_error(text, {.features = {"c"}}), HasSubstr("--features"));
  EXPECT_THAT(columns_error(text, {.ignore = {"a"}, .features = {"a"}}), HasSubstr("column a is named as both"));
}

TEST(Roles, OfATargetForEachRow) {
  const Table t = columns_of("a,price,kind\n1,2.5,x\n3,-4,x\n", {.target = "price", .ignore = {"kind"}});
  ASSERT_TRUE(t.target);
  EXPECT_EQ(*t.target, (Vector(2) << 2.5, -4).finished());
  EXPECT_THAT(t.feature_names, ElementsAre("a"));
  EXPECT_FALSE(t.labels);
  EXPECT_EQ(*select_rows(t, {1}).target, Vector::Constant(1, -4));
  EXPECT_THAT(columns_error("a,p\n1,x\n2,y\n", {.target = "p"}),
              AllOf(HasSubstr("line 2, column p"), HasSubstr("target")));
}

TEST(Roles, OfTextsAreRefusedWithTheOptionsThatHelp) {
  EXPECT_THAT(columns_error("who,a,class\nann,1,x\nbob,2,y\n"),
              AllOf(HasSubstr("line 2, column who: found \"ann\""), HasSubstr("--ignore who"), HasSubstr("--id who"),
                    HasSubstr("--categories one-hot")));
  EXPECT_THAT(columns_error("date,a,class\n2024-01-31,1,x\n2024-02-01,2,y\n"),
              AllOf(HasSubstr("--ignore date"), HasSubstr("dates"), Not(HasSubstr("one-hot"))));
  EXPECT_THAT(columns_error("a,b,class\n1,2,x\n2,3,y\n3,4o,x\n"), AllOf(HasSubstr("4o"), Not(HasSubstr("one-hot"))));
}

TEST(Roles, OfALastColumnThatIsNoClassAreRefused) {
  EXPECT_THAT(columns_error("a,date\n1,2024-01-31\n2,2024-02-01\n"),
              AllOf(HasSubstr("--ignore"), HasSubstr("--label date")));
  EXPECT_THAT(columns_error("a,who\n1,p\n2,q\n3,r\n4,s\n5,t\n"), AllOf(HasSubstr("--id"), HasSubstr("--label who")));
  EXPECT_TRUE(columns_of("a,who\n1,p\n2,q\n3,r\n4,s\n5,t\n", {.label = "who"}).labels);
}

TEST(Roles, OfANumericLabelWithManyValuesAreRefused) {
  std::string measured = "a,target\n", classes = "a,target\n";
  for (int i = 0; i < 442; ++i) measured += fmt::format("{},{}\n", 1.5 * i, 25 + i % 214);
  for (int i = 0; i < 442; ++i) classes += fmt::format("{},{}\n", 1.5 * i, i % 10);
  EXPECT_THAT(columns_error(measured),
              AllOf(HasSubstr("214 different numbers in 442 rows"), HasSubstr("--label target"),
                    HasSubstr("--target target"), HasSubstr("--label none")));
  EXPECT_EQ(columns_of(measured, {.label = "target"}).labels->classes(), 214);
  EXPECT_EQ(columns_of(measured, {.target = "target"}).target->size(), 442);
  EXPECT_EQ(columns_of(classes).labels->classes(), 10);
}

// ---- Delimiters and decimals ----

TEST(Delimiter, IsDetected) {
  const Matrix expected = (Matrix(2, 2) << 1.5, 2, 3, 4).finished();
  for (const char* text : {"a;b\n1.5;2\n3;4\n", "a\tb\n1.5\t2\n3\t4\n", "1.5;2\n3;4\n", "\"a;1\",b\n1.5,2\n3,4\n",
                           "\"a,1\";b\n1.5;2\n3;4\n", "a,\tb\n1.5,\t2\n3,\t4\n"}) {
    EXPECT_EQ(columns_of(text).features, expected) << text;
  }
}

TEST(Delimiter, IsNotADecimalComma) {
  const Matrix expected = (Matrix(2, 2) << 1.5, 2.5, 3, 4.25).finished();
  const TableOptions decimal = {.decimal = ','};
  for (const char* text : {"a;b\n1,5;2,5\n3;4,25\n", "1,5;2,5\n3,0;4,25\n", "a, b;c, d\n1,5;2,5\n3,0;4,25\n",
                           "a\tb\n1,5\t2,5\n3\t4,25\n"}) {
    EXPECT_EQ(columns_of(text, decimal).features, expected) << text;
    EXPECT_THAT(columns_error(text), HasSubstr("--decimal comma")) << text;
  }
  EXPECT_EQ(columns_of("\"1,5\";\"2,5\"\n3;\"4,25\"\n", decimal).features, expected) << "quoted";
  EXPECT_THAT(columns_error("a;b\n1,5;2.5\n3;4.5\n", decimal), HasSubstr("--decimal point"));
}

TEST(Delimiter, IsTheOneOfTheOption) {
  EXPECT_EQ(columns_of("a|b\n1|2\n", {.delimiter = '|'}).features, (Matrix(1, 2) << 1, 2).finished());
  EXPECT_THAT(columns_error("a;b\n1;2\n", {.delimiter = ','}), HasSubstr("separated by commas"));
  EXPECT_THAT(columns_error("a,b\n1,2\n", {.delimiter = ',', .decimal = ','}), HasSubstr("decimal sign"));
  EXPECT_THAT(columns_error("a\tb\n1\t\n", {.delimiter = '\t'}), HasSubstr("line 2, column b: found an empty field"));
}

// ---- Missing values ----

TEST(Missing, IsRefusedWithTheOptionsThatHelp) {
  for (const char* mark : {"", "NA", "N/A", "nan", "NaN", "null", "None", "?", "\"\""}) {
    EXPECT_THAT(columns_error(fmt::format("a,b,class\n1,2,x\n3,{},y\n", mark)),
                AllOf(HasSubstr("line 3, column b: found"), HasSubstr("--missing mean"), HasSubstr("--missing drop")))
        << mark;
  }
  EXPECT_THAT(columns_error("a,b\n1,inf\n3,2\n", {.missing = MissingValues::kMean}), HasSubstr("line 2, column b"));
  EXPECT_THAT(columns_error("a,class\n1,x\n2,\n"),
              AllOf(HasSubstr("line 3, column class"), HasSubstr("--missing drop")));
  EXPECT_EQ(columns_of("a,class\n1,x\n2,NA\n").labels->classes(), 2) << "NA may be a class";
  EXPECT_EQ(columns_of("a,b,class\n1,,x\n3,?,y\n", {.ignore = {"b"}}).features.cols(), 1);
}

TEST(Missing, IsReplacedByTheMean) {
  const Table t = columns_of("a,b,class\n1,2,x\nNA,4,y\n5,,y\n", {.missing = MissingValues::kMean});
  EXPECT_EQ(t.features, (Matrix(3, 2) << 1, 2, 3, 4, 5, 3).finished());
  EXPECT_THAT(t.notes, ElementsAre(HasSubstr("2 missing values are replaced")));
  EXPECT_THAT(columns_error("a,b\n1,\n2,\n", {.missing = MissingValues::kMean}), HasSubstr("every value of column b"));
  EXPECT_THAT(columns_error("a,class\n1,x\n2,\n", {.missing = MissingValues::kMean}), HasSubstr("a label"));
}

TEST(Missing, MeansDoNotOverflow) {
  const Table t = columns_of("a,b\n1.5e308,1\n1.5e308,2\n,3\n", {.missing = MissingValues::kMean});
  EXPECT_NEAR(t.features(2, 0) / 1.5e308, 1, 1e-15);
}

TEST(Missing, RowsAreLeftOutAndCounted) {
  const TableOptions drop = {.id = "who", .missing = MissingValues::kDrop};
  const Table t = columns_of("who,a,class\np,1,x\nq,,y\nr,5,\ns,7,y\n", drop);
  EXPECT_EQ(t.features, (Matrix(2, 1) << 1, 7).finished());
  EXPECT_THAT(t.labels->of_row, ElementsAre(0, 1));
  EXPECT_THAT(t.names, ElementsAre("p", "s"));
  EXPECT_EQ(t.dropped_rows, 2);
  EXPECT_THAT(t.notes, ElementsAre("f.csv: 2 of 4 rows have missing values and are left out (line 3, 4)"));
  EXPECT_THAT(columns_error("a,b\n1,\n,2\n", {.missing = MissingValues::kDrop}), HasSubstr("leaves none"));
}

// ---- Categories ----

TEST(Categories, MakeAFeatureEach) {
  const TableOptions one_hot = {.categories = TextCategories::kOneHot};
  const Table t = columns_of("colour,a,class\nred,1,x\nblue,2,y\nred,3,y\n", one_hot);
  EXPECT_THAT(t.feature_names, ElementsAre("colour=red", "colour=blue", "a"));
  EXPECT_EQ(t.features, (Matrix(3, 3) << 1, 0, 1, 0, 1, 2, 1, 0, 3).finished());
  TableOptions mean = one_hot;
  mean.missing = MissingValues::kMean;
  EXPECT_EQ(columns_of("colour,a,class\nred,1,x\nblue,2,y\nred,3,y\nred,0,y\n?,4,x\n", mean).features.row(4),
            (Matrix(1, 3) << .75, .25, 4).finished());
}

TEST(Categories, AreNoNamesNorDatesNorSpoiltNumbers) {
  const TableOptions one_hot = {.categories = TextCategories::kOneHot};
  std::string names = "who,a,class\n";
  for (int i = 0; i < 30; ++i) names += fmt::format("p{},{},{}\n", i, i * .5, i % 2 == 0 ? "x" : "y");
  EXPECT_THAT(columns_error(names, one_hot), AllOf(HasSubstr("30 different texts"), HasSubstr("--id who")));
  EXPECT_THAT(columns_error("date,a,class\n2024-01-31,1,x\n2024-02-01,2,y\n", one_hot), HasSubstr("--ignore date"));
  EXPECT_THAT(columns_error("a,b,class\n1,2,x\n2,3,y\n3,4o,x\n", one_hot), HasSubstr("4o"));
}

// ---- Recipes ----

const char* const kLearned = "who,colour,a,when,class\np,red,1,1.1.2024,x\nq,blue,2,2.1.2024,y\nr,red,NA,3.1.2024,y\n";
const TableOptions kLearning = {
    .id = "who", .ignore = {"when"}, .missing = MissingValues::kMean, .categories = TextCategories::kOneHot};

TEST(Recipes, ApplyToNewRowsInAnyOrder) {
  const Recipe recipe = columns_of(kLearned, kLearning).recipe;
  EXPECT_THAT(recipe.columns(), ElementsAre("colour", "a"));
  EXPECT_THAT(recipe.others, ElementsAre("when"));
  const Table t = columns_of("class,when,extra,a,colour,who\nx,1.2.2024,5,?,blue,n\n", {.recipe = recipe});
  EXPECT_EQ(t.features, (Matrix(1, 3) << 0, 1, 1.5).finished());
  EXPECT_THAT(t.feature_names, ElementsAre("colour=red", "colour=blue", "a"));
  EXPECT_EQ(t.labels->column, "class");
  EXPECT_THAT(t.names, ElementsAre("n"));
  EXPECT_THAT(t.notes, ElementsAre(HasSubstr("extra is no feature of the model"), HasSubstr("1 missing value")));
  EXPECT_FALSE(columns_of("colour,a\nred,1\n", {.recipe = recipe}).labels);
  EXPECT_EQ(columns_of("red,1\nblue,2\n", {.recipe = recipe}).features, (Matrix(2, 3) << 1, 0, 1, 0, 1, 2).finished())
      << "by their order";
  EXPECT_EQ(columns_of("red,1,x\nblue,2,y\n", {.recipe = recipe}).labels->classes(), 2) << "with labels";
}

TEST(Recipes, DetectWhatTheModelDoesNotKnow) {
  const Recipe recipe = columns_of(kLearned, kLearning).recipe;
  EXPECT_THAT(columns_error("colour,b\nred,1\n", {.recipe = recipe}),
              AllOf(HasSubstr("no column \"a\""), HasSubstr("b (1)")));
  EXPECT_THAT(columns_error("colour,a\npink,1\n", {.recipe = recipe}),
              AllOf(HasSubstr("line 2, column colour: found \"pink\""), HasSubstr("red, blue")));
  EXPECT_THAT(columns_error("colour,a\n7,1\n", {.recipe = recipe}), HasSubstr("column colour: found \"7\""));
  EXPECT_THAT(columns_error("colour,a\nred,x\n", {.recipe = recipe}), HasSubstr("column a: found \"x\""));
  EXPECT_THAT(columns_error("a,b\n1,?\n", {.missing = MissingValues::kMean, .recipe = plain_recipe({"a", "b"}, true)}),
              HasSubstr("does not know the mean"));
}

TEST(Recipes, KeepTheMeanForAnotherTime) {
  const Recipe recipe = columns_of("a,b\n1,2\n3,6\n").recipe;
  EXPECT_THAT(columns_error("a,b\n1,\n", {.recipe = recipe}), HasSubstr("--missing mean"));
  EXPECT_EQ(columns_of("a,b\n1,\n", {.missing = MissingValues::kMean, .recipe = recipe}).features,
            (Matrix(1, 2) << 1, 4).finished());
}

TEST(Recipes, FindNumbersOfRowsByTheirPlace) {
  const Recipe recipe = columns_of(rows_that_count("", 0, 6)).recipe;
  EXPECT_THAT(recipe.columns(), ElementsAre("x1"));
  EXPECT_EQ(columns_of("0.5\n1.5\n", {.recipe = recipe}).features.cols(), 1);
  EXPECT_EQ(columns_of(rows_that_count("", 0, 6), {.recipe = recipe}).features.cols(), 1);
}

// ---- Values next to which the others vanish ----

TEST(Flattened, IsNoted) {
  std::string text = "a,b\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("{},{}\n", i % 7, i == 11 ? "1e300" : fmt::format("{}", i % 5));
  EXPECT_THAT(columns_of(text).notes, ElementsAre(AllOf(HasSubstr("f.csv: line 13, column b: found \"1e300\""),
                                                        HasSubstr("19 of 20 rows"), HasSubstr("--ignore b"))));
  std::string sparse = "a,b\n";
  for (int i = 0; i < 40; ++i) sparse += fmt::format("{},{}\n", i % 7, i == 11 ? 1e6 : 0.);
  EXPECT_THAT(columns_of(sparse).notes, IsEmpty()) << "nothing is flattened that was different";
}

// ---- Files ----

TEST(Encoding, OfLatin1IsConvertedWithANote) {
  const Table t = columns_of(
      "gr\xf6\xdf"
      "e,class\n1,Z\xfcrich\n2,Gen\xe8ve\n3,10 \x80\n");
  EXPECT_THAT(t.feature_names, ElementsAre("größe"));
  EXPECT_THAT(t.labels->class_names, ElementsAre("Zürich", "Genève", "10 €"));
  EXPECT_THAT(t.notes, ElementsAre(AllOf(HasSubstr("not UTF-8 (line 1)"), HasSubstr("Latin-1: \"größe\""))));
  EXPECT_THAT(columns_of("größe,class\n1,Zürich\n").notes, IsEmpty());
}

TEST(Encoding, DetectsWhatIsNeither) {
  EXPECT_THAT(columns_error("größe,class\n1,Z\xfcrich\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("0xfc"), HasSubstr("UTF-8")));
  EXPECT_THAT(columns_error("a,class\n1,\x81\x40\n"), HasSubstr("0x81"));
  EXPECT_THAT(columns_error(std::string_view("\xff\xfe"
                                             "a\0,\0b\0\n\0",
                                             10)),
              HasSubstr("UTF-16"));
}

void write_packed(const std::string& path, const std::string& content) {
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, content.data(), static_cast<unsigned>(content.size())), static_cast<int>(content.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

TEST(PackedFiles, AreReadByTheirEnding) {
  const TemporaryDirectory directory;
  std::string text = "a,b\n";
  for (int i = 0; i < 100000; ++i) text += fmt::format("{},{}\n", i, 3 * i % 17);
  write_packed(directory / "t.csv.gz", text);
  EXPECT_EQ(read_table(directory / "t.csv.gz", {.features = {"a", "b"}}).features,
            columns_of(text, {.features = {"a", "b"}}).features);
}

TEST(PackedFiles, DetectDamage) {
  const TemporaryDirectory directory;
  std::string text = "a,b\n";
  for (int i = 0; i < 10000; ++i) text += fmt::format("{},{}\n", i, i * 7919 % 10007);
  write_packed(directory / "t.csv.gz", text);
  std::filesystem::copy_file(directory / "t.csv.gz", directory / "raw");
  const std::string whole = internal::read_whole_file(directory / "raw");
  directory.write("short.csv.gz", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(error_of([&] { read_table(directory / "short.csv.gz"); }), HasSubstr("not a whole gzip file"));
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  directory.write("flipped.csv.gz", flipped);
  EXPECT_THAT(error_of([&] { read_table(directory / "flipped.csv.gz"); }), HasSubstr("not a whole gzip file"));
  directory.write("plain.csv.gz", "a,b\n1,2\n");
  EXPECT_THAT(error_of([&] { read_table(directory / "plain.csv.gz"); }), HasSubstr("not a gzip file"));
  EXPECT_THAT(error_of([&] { read_table(directory / "none.csv.gz"); }), HasSubstr("cannot open"));
}

TEST(Describe, SaysWhatATableHolds) {
  EXPECT_EQ(describe(columns_of("who,a,b,class\np,1,2,x\nq,3,4,y\nr,3,5,y\n", {.id = "who"})),
            "f.csv: 3 rows, 2 features (a, b); label class (2 classes: x 1, y 2); left out: who (names of rows)");
  EXPECT_EQ(describe(columns_of("1\n2\n")), "f.csv: 2 rows, 1 feature (x0); no label column");
  EXPECT_THAT(describe(columns_of("1,2,3,4,5,6,7,8,9,10\n")), HasSubstr("x7, ...)"));
}

// ---- Targets ----

TEST(Target, IsNoFeatureAndIsKnownToTheRecipe) {
  const Table t = columns_of("a,price,b\n1,5.5,2\n3,7,4\n", {.target = "price"});
  EXPECT_EQ(*t.target, (Vector(2) << 5.5, 7).finished());
  EXPECT_THAT(t.feature_names, ElementsAre("a", "b"));
  EXPECT_EQ(t.recipe.target, "price");
  EXPECT_THAT(t.recipe.others, IsEmpty());
  EXPECT_THAT(describe(t), HasSubstr("target price (5.5 to 7)"));
  EXPECT_THAT(columns_error("a,price\n1,x\n", {.target = "price"}), HasSubstr("line 2, column price: found \"x\""));
}

TEST(Target, OfTheRecipeIsReadWhereRowsHaveIt) {
  const Recipe recipe = columns_of("a,price,b\n1,5.5,2\n3,7,4\n", {.target = "price"}).recipe;
  EXPECT_EQ((*columns_of("price,b,a\n9,2,1\n", {.recipe = recipe}).target)(0), 9);
  EXPECT_FALSE(columns_of("b,a\n2,1\n", {.recipe = recipe}).target);
  const Table empty = columns_of("price,b,a\n,2,1\n3,1,2\n", {.recipe = recipe});
  EXPECT_FALSE(empty.target) << "not known of every row";
  EXPECT_EQ(empty.features.rows(), 2);
  EXPECT_THAT(empty.notes, IsEmpty());
  EXPECT_FALSE(columns_of("b,a,class\n2,1,x\n", {.label = "none", .ignore = {"class"}, .recipe = recipe}).labels);
}

TEST(Target, MayBeMissingFromRowsWithoutAHeader) {
  const Recipe recipe = columns_of("1,2,5\n3,4,6\n", {.target = "2"}).recipe;
  EXPECT_EQ(recipe.target, "x2");
  EXPECT_EQ((*columns_of("1,2,5\n", {.recipe = recipe}).target)(0), 5);
  EXPECT_FALSE(columns_of("1,2\n", {.recipe = recipe}).target);
  EXPECT_FALSE(columns_of("1,2\n", {.target = "2", .target_optional = true, .recipe = recipe}).target);
  EXPECT_THAT(columns_error("1,2\n", {.target = "2", .recipe = recipe}), HasSubstr("the column of --target is \"2\""));
}

}  // namespace
}  // namespace bregmax
