#include "data/csv.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>

#include "bregmax/core/random.hpp"
#include "data/expect_error.hpp"
#include "data/file.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using namespace internal;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

CsvContent parse(std::string_view text) { return parse_csv(text, "f.csv"); }
std::string parse_error(std::string_view text) {
  return error_of([&] { parse(text); });
}

TEST(Csv, ReadsNumbersAndTextsWithAHeader) {
  const CsvContent content = parse("a,b,class\n1,2.5,red\n-3,.5,green\n");
  EXPECT_TRUE(content.has_header);
  ASSERT_EQ(content.columns.size(), 3u);
  EXPECT_EQ(content.columns[1].name, "b");
  EXPECT_THAT(content.columns[0].numbers, ElementsAre(1, -3));
  EXPECT_THAT(content.columns[1].numbers, ElementsAre(2.5, .5));
  EXPECT_FALSE(content.columns[2].numeric);
  EXPECT_THAT(content.columns[2].texts, ElementsAre("red", "green"));
  EXPECT_THAT(content.line_of_row, ElementsAre(2, 3));
}

TEST(Csv, ReadsAFileWithoutAHeader) {
  const CsvContent content = parse("5.1,3.5,setosa\n4.9,3.0,virginica\n");
  EXPECT_FALSE(content.has_header);
  EXPECT_EQ(content.columns[2].name, "x2");
  EXPECT_THAT(content.columns[0].numbers, ElementsAre(5.1, 4.9));
  EXPECT_THAT(content.columns[2].texts, ElementsAre("setosa", "virginica"));
  EXPECT_THAT(content.line_of_row, ElementsAre(1, 2));
}

TEST(Csv, AcceptsEveryLineEnd) {
  for (const char* text : {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r",
                           "\xef\xbb\xbf"
                           "a,b\n1,2\n3,4\n",
                           "a,b\n1,2\n3,4\n\n \n\r\n\t", "a , b\n 1 ,2 \n3,\t4\n", "\"a\",\"b\"\n\"1\",\"2\"\n3,4\n"}) {
    const CsvContent content = parse(text);
    EXPECT_TRUE(content.has_header) << text;
    EXPECT_EQ(content.columns[0].name, "a") << text;
    EXPECT_EQ(content.columns[1].name, "b") << text;
    EXPECT_THAT(content.columns[0].numbers, ElementsAre(1, 3)) << text;
    EXPECT_THAT(content.columns[1].numbers, ElementsAre(2, 4)) << text;
    EXPECT_THAT(content.line_of_row, ElementsAre(2, 3)) << text;
  }
}

TEST(Csv, ReadsQuotedFields) {
  const CsvContent content = parse("\"a,\"\"1\"\"\",b\n1,\"two\nlines, \"\"quoted\"\"\"\r\n2, \"plain\" \n");
  EXPECT_EQ(content.columns[0].name, "a,\"1\"");
  EXPECT_THAT(content.columns[1].texts, ElementsAre("two\nlines, \"quoted\"", "plain"));
  EXPECT_THAT(content.line_of_row, ElementsAre(2, 4));
}

TEST(Csv, CountsLinesInsideQuotesForMessages) {
  EXPECT_THAT(parse_error("\"a\nb\r\nc\rd\",e\n1,2\n1\n"), HasSubstr("line 6"));
}

TEST(Csv, TakesAFirstLineOfNumbersAsARow) {
  EXPECT_FALSE(parse("1,2\n3,4\n").has_header);
  EXPECT_EQ(parse("1,2").line_of_row.size(), 1u);
  EXPECT_FALSE(parse("5,6,red").has_header);
}

TEST(Csv, TakesAFirstLineOfNumbersAsHeaderIfItsLastFieldNamesALabel) {
  const CsvContent content = parse("0,1,Class\n1,2,3\n");
  EXPECT_TRUE(content.has_header);
  EXPECT_EQ(content.columns[1].name, "1");
}

TEST(Csv, NamesColumnsThatTheHeaderLeavesEmpty) {
  const CsvContent content = parse(",a,b\n0,1,2\n");
  EXPECT_TRUE(content.has_header);
  EXPECT_EQ(content.columns[0].name, "x0");
}

TEST(Csv, KeepsTheSpellingOfNumbersForLabels) {
  const std::string text = "a,class\n1,01\n2,\"1.0\"\n3, 1 \n";
  const CsvContent content = parse(text);
  EXPECT_TRUE(content.columns[1].numeric);
  EXPECT_THAT(csv_column_texts(text, content, 1), ElementsAre("01", "1.0", "1"));
}

TEST(CsvBadInput, DetectsRaggedRows) {
  EXPECT_EQ(parse_error("a,b,c\n1,2,3\n4,5\n"), "f.csv: line 3: found 2 fields; expected 3, as in the first line");
  EXPECT_EQ(parse_error("a,b\n1\n"), "f.csv: line 2: found 1 field; expected 2, as in the first line");
  EXPECT_EQ(parse_error("a,b\n1,2,3\n"), "f.csv: line 2: found 3 fields; expected 2, as in the first line");
  EXPECT_THAT(parse_error("1,2\n3,4,\n"), HasSubstr("line 2: found 3 fields; expected 2"));
}

TEST(CsvBadInput, DetectsEmptyFields) {
  EXPECT_THAT(parse_error("a,b\n1,2\n3,\n"), HasSubstr("f.csv: line 3, column b: found an empty field"));
  EXPECT_THAT(parse_error("a,b\n1,2\n,4\n"), HasSubstr("line 3, column a"));
  EXPECT_THAT(parse_error("a,class\n1,red\n2,\"\"\n"), HasSubstr("line 3, column class"));
  EXPECT_THAT(parse_error("1,,3\n1,2,3\n"), HasSubstr("line 1, column x1"));
  EXPECT_THAT(parse_error("1,2\n  ,3\n"), HasSubstr("line 2, column x0"));
}

TEST(CsvBadInput, DetectsNumbersThatAreNotFinite) {
  for (const char* bad : {"nan", "NaN", "inf", "-Infinity", "1e999", "\"nan\""}) {
    EXPECT_THAT(parse_error(fmt::format("a,b\n1,2\n3,{}\n", bad)),
                AllOf(HasSubstr("f.csv: line 3, column b"), HasSubstr("allowed: a finite number")))
        << bad;
    EXPECT_THAT(parse_error(fmt::format("{},2\n3,4\n", bad)), HasSubstr("line 1, column x0")) << bad;
  }
}

TEST(CsvBadInput, DetectsFilesWithoutRows) {
  EXPECT_THAT(parse_error(""), HasSubstr("f.csv: the file is empty"));
  EXPECT_THAT(parse_error("\n \r\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(parse_error("\xef\xbb\xbf"), HasSubstr("the file is empty"));
  EXPECT_THAT(parse_error("a,b,class\n"), HasSubstr("a header line and no rows"));
}

TEST(CsvBadInput, DetectsBlankLinesBetweenRows) {
  EXPECT_THAT(parse_error("a,b\n1,2\n\n3,4\n"), HasSubstr("line 3: the line is blank"));
  EXPECT_THAT(parse_error("\na,b\n1,2\n"), HasSubstr("line 1: the line is blank"));
}

TEST(CsvBadInput, DetectsBrokenQuotes) {
  EXPECT_THAT(parse_error("a,b\n1,\"2\n3,4\n"), HasSubstr("line 2: a quoted field is not closed"));
  EXPECT_THAT(parse_error("a,b\n1,\"2\"x\n"), HasSubstr("line 2: text follows the closing quote"));
  EXPECT_THAT(parse_error("\""), HasSubstr("not closed"));
}

TEST(CsvBadInput, DetectsBinaryContent) {
  EXPECT_THAT(parse_error(std::string_view("a,b\n1,\0002\n", 8)), HasSubstr("line 2: found a zero byte"));
}

TEST(CsvBadInput, DetectsTwoColumnsWithTheSameName) {
  EXPECT_THAT(parse_error("a,b,a\n1,2,3\n"), HasSubstr("columns 0 and 2 (from 0) are both named \"a\""));
  EXPECT_THAT(parse_error("NA,NA\n1,2\n"), HasSubstr("both named"));
}

TEST(CsvBadInput, DetectsAFirstLineThatMayBeAHeaderOrADamagedRow) {
  EXPECT_THAT(parse_error("NA,2,3\n1,2,3\n4,5,6\n"),
              AllOf(HasSubstr("f.csv: line 1, column x0: found \"NA\""), HasSubstr("header")));
}

TEST(ReadWholeFile, DetectsAMissingFileAndADirectory) {
  const TemporaryDirectory directory;
  EXPECT_EQ(error_of([&] { read_whole_file(directory / "none.csv"); }),
            fmt::format("cannot open {}: No such file or directory", directory / "none.csv"));
  EXPECT_THAT(error_of([&] { read_whole_file(directory / ""); }), HasSubstr("it is a directory"));
  EXPECT_THAT(error_of([] { read_whole_file(""); }), HasSubstr("empty"));
}

TEST(ReadWholeFile, ReadsAllBytes) {
  const TemporaryDirectory directory;
  std::string content(200000, 'x');
  content[3] = '\0';
  EXPECT_EQ(read_whole_file(directory.write("f", content)), content);
  EXPECT_EQ(read_whole_file(directory.write("g", "")), "");
}

double any_finite_double() {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  const auto value = std::bit_cast<double>(bits);
  return std::isfinite(value) ? value : 0.0;
}

RC_GTEST_PROP(CsvProperty, ReadsEveryDoubleBackFromSeventeenDigits, ()) {
  const double value = any_finite_double();
  const CsvContent content = parse(fmt::format("{:.17g}\n{}\n", value, value));
  RC_ASSERT(std::bit_cast<std::uint64_t>(content.columns[0].numbers[0]) == std::bit_cast<std::uint64_t>(value));
  RC_ASSERT(content.columns[0].numbers[1] == value);
}

std::string quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

RC_GTEST_PROP(CsvProperty, ReadsQuotedTextsBack, ()) {
  const auto piece = rc::gen::element<char>('a', 'b', '"', ',', '\n', '\r', ' ', '\'', ';');
  const auto texts = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(rc::gen::container<std::string>(piece))));
  std::string file = "number,text\n";
  for (const std::string& text : texts) file += "1," + quote(text) + "\n";
  const CsvContent content = parse(file);
  RC_ASSERT(content.columns[1].texts == texts);
}

// Nothing else than a table with complete columns or an Error: no crash, no other exception, no ragged column.
RC_GTEST_PROP(CsvProperty, ReadsAnyTextCompletelyOrRefusesIt, ()) {
  const auto piece = rc::gen::element<char>('1', '.', 'a', '"', ',', '\n', '\r', ' ', '-', 'e');
  const auto text = *rc::gen::container<std::string>(piece);
  try {
    const CsvContent content = parse(text);
    RC_ASSERT(!content.line_of_row.empty());
    for (const CsvColumn& column : content.columns) {
      RC_ASSERT((column.numeric ? column.numbers.size() : column.texts.size()) == content.line_of_row.size());
    }
  } catch (const Error&) {
  }
}

TEST(Csv, ReadsTwoHundredThousandRowsCorrectly) {
  constexpr Index kRows = 200000, kColumns = 10;
  const auto value = [](Index row, Index column) { return static_cast<double>(row * kColumns + column) / 64 - 1000; };
  fmt::memory_buffer text;
  for (Index r = 0; r < kRows; ++r) {
    for (Index c = 0; c < kColumns; ++c) {
      fmt::format_to(std::back_inserter(text), "{}{}", value(r, c), c + 1 < kColumns ? ',' : '\n');
    }
  }
  const CsvContent content = parse({text.data(), text.size()});
  ASSERT_EQ(content.columns.size(), static_cast<std::size_t>(kColumns));
  ASSERT_EQ(content.line_of_row.size(), static_cast<std::size_t>(kRows));
  Index wrong = 0;
  for (Index r = 0; r < kRows; ++r) {
    for (Index c = 0; c < kColumns; ++c) {
      wrong += content.columns[static_cast<std::size_t>(c)].numbers[static_cast<std::size_t>(r)] != value(r, c);
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(content.line_of_row.back(), kRows);
}

}  // namespace
}  // namespace bregmax
