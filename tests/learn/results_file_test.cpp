#include "learn/results_file.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "data/expect_error.hpp"
#include "data/temporary_directory.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

const ResultsFormat kFormat{"a test", {"name", "run"}, {"score", "seconds"}, 7};

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void append_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

TEST(ResultsFile, KeepsRecordsToTheLastBit) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  const ResultsRecord third{{"a", "0"}, {1.0 / 3, 1e-300}, "lambda=1; T=0"};
  const ResultsRecord unknown{{"a", "1"}, {std::nan(""), -0.0}, ""};
  {
    ResultsFile file(path, kFormat);
    file.append(third);
    file.append(unknown);
    EXPECT_TRUE(file.contains({"a", "0"}));
    EXPECT_FALSE(file.contains({"a", "2"}));
  }
  const auto records = read_results(path, kFormat);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records.at({"a", "0"}), third);
  EXPECT_TRUE(std::isnan(records.at({"a", "1"}).values[0]));
  EXPECT_TRUE(ResultsFile(path, kFormat).contains({"a", "1"}));
}

TEST(ResultsFile, DropsATornLastLineWhereverItIsTorn) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  {
    ResultsFile file(path, kFormat);
    file.append({{"a", "0"}, {0.5, 1}, "first"});
    file.append({{"a", "1"}, {0.25, 1}, "second"});
  }
  const std::string whole = content(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(path, std::ios::trunc) << whole.substr(0, length);
    const std::size_t lines =
        static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length), '\n'));
    {
      ResultsFile file(path, kFormat);
      EXPECT_EQ(read_results(path, kFormat).size(), lines < 2 ? 0 : lines - 2) << length;
      EXPECT_EQ(file.contains({"a", "0"}), lines >= 3) << length;
      if (!file.contains({"a", "0"})) file.append({{"a", "0"}, {0.5, 1}, "first"});
      if (!file.contains({"a", "1"})) file.append({{"a", "1"}, {0.25, 1}, "second"});
    }
    EXPECT_EQ(content(path), whole) << "what is torn off is made again, after " << length;
  }
}

TEST(ResultsFile, TheLastRecordOfAKeyCounts) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  ResultsFile file(path, kFormat);
  file.append({{"a", "0"}, {0.5, 1}, "first"});
  file.append({{"a", "0"}, {0.25, 2}, "again"});
  EXPECT_EQ(read_results(path, kFormat).at({"a", "0"}), (ResultsRecord{{"a", "0"}, {0.25, 2}, "again"}));
}

TEST(ResultsFile, NotesCannotBreakTheLines) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  ResultsFile file(path, kFormat);
  file.append({{"a", "0"}, {0.5, 1}, "one, two\nthree"});
  EXPECT_EQ(read_results(path, kFormat).at({"a", "0"}).note, "one; two three");
}

TEST(ResultsFile, RefusesAnotherSeedFormatOrFile) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  { const ResultsFile file(path, kFormat); }
  ResultsFormat other = kFormat;
  other.seed = 8;
  EXPECT_THAT(error_of([&] { ResultsFile(path, other); }), HasSubstr("seed"));
  EXPECT_THAT(error_of([&] { read_results(path, other); }), HasSubstr("seed 7"));
  other = kFormat;
  other.values.emplace_back("more");
  EXPECT_THAT(error_of([&] { ResultsFile(path, other); }), HasSubstr("columns"));
  const std::string foreign = directory.write("foreign.csv", "my own table\n1,2,3");
  EXPECT_THAT(error_of([&] { ResultsFile(foreign, kFormat); }), HasSubstr("first line"));
  const std::string short_one = directory.write("short.csv", "no line end");
  EXPECT_THAT(error_of([&] { ResultsFile(short_one, kFormat); }), HasSubstr("not a file of results"));
  EXPECT_EQ(content(foreign), "my own table\n1,2,3") << "nothing is cut off";
  EXPECT_EQ(content(short_one), "no line end");
  EXPECT_THAT(error_of([&] { read_results(directory / "none.csv", kFormat); }), HasSubstr("cannot open"));
  EXPECT_THAT(error_of([&] { ResultsFile(directory / "no/folder.csv", kFormat); }), HasSubstr("cannot write"));
}

TEST(ResultsFile, DropsResultsOfAnotherSeedOrTitleWhereThatIsAsked) {
  using enum ResultsFile::Others;
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  { ResultsFile(path, kFormat).append({{"a", "0"}, {0.5, 1}, ""}); }
  const std::string whole = content(path);
  EXPECT_TRUE(ResultsFile(path, kFormat, kDrop).contains({"a", "0"})) << "the same";
  ResultsFormat other = kFormat;
  other.seed = 8;
  {
    const ResultsFile under_way(path, kFormat);
    EXPECT_THAT(error_of([&] { ResultsFile(path, other, kDrop); }), HasSubstr("in use"));
    EXPECT_EQ(content(path), whole) << "another process still appends to it";
  }
  EXPECT_FALSE(ResultsFile(path, other, kDrop).contains({"a", "0"}));
  EXPECT_TRUE(read_results(path, other).empty());
  for (const std::size_t length : {1, 10, 30, 38}) {  // a kill within the first line, of this fit or another one
    for (const ResultsFormat& format : {kFormat, other}) {
      std::ofstream(path, std::ios::trunc) << whole.substr(0, length);
      EXPECT_FALSE(ResultsFile(path, format, kDrop).contains({"a", "0"})) << length;
      EXPECT_TRUE(read_results(path, format).empty()) << length;
    }
  }
  for (const char* foreign : {"my own table\n1,2,3", "no line end"}) {
    std::ofstream(path, std::ios::trunc) << foreign;
    EXPECT_THAT(error_of([&] { ResultsFile(path, kFormat, kDrop); }), HasSubstr("not a file of such results"));
    EXPECT_EQ(content(path), foreign);
  }
}

TEST(ResultsFile, RefusesASpoiltLineInTheMiddle) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  { ResultsFile(path, kFormat).append({{"a", "0"}, {0.5, 1}, ""}); }
  append_text(path, "a,1,zero,1,\n");
  EXPECT_THAT(error_of([&] { ResultsFile(path, kFormat); }), HasSubstr("line 4: score is 'zero'"));
  for (const char* run : {"", "one", "1.5", "99999999999"}) {
    std::ofstream(path, std::ios::trunc) << "# bregmax results 1; seed 7; a test\nname,run,score,seconds,note\na,"
                                         << run << ",0.5,1,\n";
    EXPECT_THAT(error_of([&] { read_results(path, kFormat); }),
                HasSubstr("line 3: run is '" + std::string(run) + "'; allowed: a whole number"));
  }
  { std::ofstream(path, std::ios::trunc) << "# bregmax results 1; seed 7; a test\nname,run,score,seconds,note\na,1\n"; }
  EXPECT_THAT(error_of([&] { ResultsFile(path, kFormat); }), HasSubstr("line 3: there are 2 fields"));
}

TEST(ResultsFile, RefusesASecondWriter) {
  const TemporaryDirectory directory;
  const std::string path = directory / "r.csv";
  const ResultsFile first(path, kFormat);
  EXPECT_THAT(error_of([&] { ResultsFile(path, kFormat); }), HasSubstr("in use"));
}

}  // namespace
}  // namespace bregmax
