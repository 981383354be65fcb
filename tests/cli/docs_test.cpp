// The documents agree with the program.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

std::string document(const std::string& name) { return read_file(std::string(BREGMAX_SOURCE_DIR) + "/" + name); }

// The fenced `sh` blocks that run the program or write a file for it; those that build the project are left out.
std::vector<std::string> runnable_blocks(const std::string& text) {
  std::vector<std::string> blocks;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line != "```sh") continue;
    std::string block;
    while (std::getline(lines, line) && line != "```") block += line + "\n";
    if (block.rfind("bregmax ", 0) == 0 || block.rfind("cat >", 0) == 0) blocks.push_back(block);
  }
  return blocks;
}

void expect_blocks_run(const std::string& name) {
  const TemporaryDirectory directory;
  const std::vector<std::string> blocks = runnable_blocks(document(name));
  EXPECT_FALSE(blocks.empty()) << name;
  for (const std::string& block : blocks) {
    const Outcome outcome = run_script(directory, block);
    EXPECT_EQ(outcome.exit_code, 0) << name << ":\n" << block << outcome.err;
  }
}

TEST(Docs, OptionsAreWhatTheProgramPrints) {
  const TemporaryDirectory directory;
  EXPECT_EQ(document("docs/options.md"), run(directory, {"help-markdown"}).out)
      << "run: bregmax help-markdown > docs/options.md";
}

TEST(Docs, CommandsOfTheReadmeRun) { expect_blocks_run("README.md"); }

TEST(Docs, CommandsOfTheGuideRun) { expect_blocks_run("docs/guide.md"); }

// A line of a picture that draws a polygon: what it looks like without its points, and its area.
struct Polygon {
  std::string style;
  double area;
};

Polygon read_polygon(const std::string& line) {
  const std::string begin = "points=\"";
  const std::size_t from = line.find(begin) + begin.size(), to = line.find('"', from);
  std::istringstream points(line.substr(from, to - from));
  std::vector<std::array<double, 2>> corners;
  char comma = 0;
  for (double x = 0, y = 0; points >> x >> comma >> y;) corners.push_back({x, y});
  double doubled = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto& next = corners[(i + 1) % corners.size()];
    doubled += corners[i][0] * next[1] - next[0] * corners[i][1];
  }
  return {line.substr(to), std::abs(doubled) / 2};
}

// Text, axes and rows as they are written, and the area that polygons of each style cover.
struct Drawing {
  std::string rest;
  std::map<std::string, double> area;
};

Drawing read_drawing(const std::string& svg) {
  Drawing drawing;
  std::istringstream lines(svg);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("<polygon", 0) != 0) {
      drawing.rest += line + "\n";
      continue;
    }
    const Polygon polygon = read_polygon(line);
    drawing.area[polygon.style] += polygon.area;
  }
  return drawing;
}

// Rounding, which differs between compilers, moves corners a little and makes or removes tiny polygons.
TEST(Docs, PictureIsTheOneOfTheDemo) {
  constexpr double kPanel = 440 * 390;
  const TemporaryDirectory directory;
  ASSERT_EQ(run(directory, {"demo"}).exit_code, 0);
  const Drawing drawn = read_drawing(read_file(directory / "bregmax-demo.svg"));
  const Drawing kept = read_drawing(document("docs/demo.svg"));
  EXPECT_EQ(drawn.rest, kept.rest);
  ASSERT_EQ(drawn.area.size(), kept.area.size());
  for (const auto& [style, area] : kept.area) {
    ASSERT_EQ(drawn.area.count(style), 1u) << style;
    EXPECT_NEAR(drawn.area.at(style), area, 1e-3 * kPanel) << style;
  }
}

// Links to files of the project; those to the web and within a page are not followed.
TEST(Docs, LinksLeadToFiles) {
  const std::filesystem::path root = BREGMAX_SOURCE_DIR;
  std::vector<std::filesystem::path> pages = {root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  int links = 0;
  for (const std::filesystem::path& page : pages) {
    const std::string text = read_file(page.string());
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find_first_of("#)", at + 2) - at - 2);
      if (target.empty() || target.find(':') != std::string::npos) continue;
      ++links;
      EXPECT_TRUE(std::filesystem::exists(page.parent_path() / target)) << page << " links to " << target;
    }
  }
  EXPECT_GT(links, 50) << "the links of the pages were not found";
}

}  // namespace
}  // namespace bregmax::testing
