// What the documents say is what the program does.
#include <gmock/gmock.h>

#include <cctype>
#include <cmath>
#include <map>
#include <set>
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

// The lines of a page that are not in blocks of code.
std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> list;
  std::istringstream lines(text);
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    code ^= line.starts_with("```");
    if (!code) list.push_back(line);
  }
  return list;
}

struct Link {
  std::string file, anchor;  // an empty file is the page itself
};

// The links to pages and files of the project; those to the web are left out.
std::vector<Link> links_of(const std::string& text) {
  std::vector<Link> links;
  for (const std::string& line : lines_of_text(text)) {
    for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
      const std::string target = line.substr(at + 2, line.find(')', at + 2) - at - 2);
      const std::size_t hash = target.find('#');
      if (target.find(':') != std::string::npos) continue;
      links.push_back({target.substr(0, hash), hash == std::string::npos ? "" : target.substr(hash + 1)});
    }
  }
  return links;
}

// What the headings of a page can be linked to as, by GitHub's rule.
std::set<std::string> anchors_of(const std::string& text) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of_text(text)) {
    const std::size_t begin = line.find_first_not_of('#');
    if (!line.starts_with('#') || begin == std::string::npos || line[begin] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(begin + 1)) {
      if (c == ' ' || c == '-') {
        anchor += '-';
      } else if (c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0) {
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(Docs, LinksLeadToFilesAndHeadings) {
  const std::filesystem::path root = BREGMAX_SOURCE_DIR;
  std::vector<std::filesystem::path> pages = {root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::size_t links = 0, anchors = 0;
  for (const std::filesystem::path& page : pages) {
    for (const Link& link : links_of(read_file(page.string()))) {
      const std::filesystem::path target = link.file.empty() ? page : page.parent_path() / link.file;
      ++links;
      EXPECT_TRUE(std::filesystem::exists(target)) << page << " links to " << link.file;
      if (link.anchor.empty() || !std::filesystem::exists(target)) continue;
      ++anchors;
      EXPECT_TRUE(anchors_of(read_file(target.string())).contains(link.anchor))
          << page << " links to #" << link.anchor << " of " << target;
    }
  }
  EXPECT_GT(links, 50u) << "the links of the pages were not found";
  EXPECT_GT(anchors, 5u);
}

TEST(Docs, OptionsAreWhatTheProgramPrints) {
  const TemporaryDirectory directory;
  EXPECT_EQ(document("docs/options.md"), run(directory, {"help-markdown"}).out)
      << "run: bregmax help-markdown > docs/options.md";
}

TEST(Docs, CommandsOfTheReadmeRun) { expect_blocks_run("README.md"); }

TEST(Docs, CommandsOfTheGuideRun) { expect_blocks_run("docs/guide.md"); }

double area_of(const std::string& points) {
  std::istringstream fields(points);
  std::vector<std::pair<double, double>> corners;
  char comma = 0;
  for (double x = 0, y = 0; fields >> x >> comma >> y;) corners.emplace_back(x, y);
  double twice = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto& [x, y] = corners[i];
    const auto& [next_x, next_y] = corners[(i + 1) % corners.size()];
    twice += x * next_y - next_x * y;
  }
  return std::abs(twice) / 2;
}

// A picture of the demo in two parts: what is the same everywhere (text, axes, rows of the data), and by colour the
// area of the polygons that show the learned divergence, which rounding may change.
struct PictureParts {
  std::string fixed;
  std::map<std::string, double> learned_areas;

  explicit PictureParts(const std::string& svg) {
    const auto attribute = [](const std::string& line, const std::string& name) {
      const std::size_t found = line.find(" " + name + "=\"");
      if (found == std::string::npos) return std::string();
      const std::size_t begin = found + name.size() + 3;
      return line.substr(begin, line.find('"', begin) - begin);
    };
    std::istringstream lines(svg);
    for (std::string line; std::getline(lines, line);) {
      // Rows have a white border; a cell of a divergence near 0 is all white.
      const bool is_row = attribute(line, "stroke") == "#ffffff" && attribute(line, "fill") != "#ffffff";
      if (line.starts_with("<polygon") && !is_row) {
        learned_areas[attribute(line, "fill")] += area_of(attribute(line, "points"));
      } else {
        fixed += line + "\n";
      }
    }
  }
};

TEST(Docs, PictureIsTheOneOfTheDemo) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run(directory, {"demo"}).exit_code, 0);
  const PictureParts drawn(read_file(directory / "bregmax-demo.svg")), kept(document("docs/demo.svg"));
  EXPECT_EQ(drawn.fixed, kept.fixed) << "run: bregmax demo --out docs/demo.svg";
  constexpr double kPanel = 440 * 390;
  EXPECT_NEAR(drawn.learned_areas.at("none"), 2 * kPanel, 0.01 * kPanel) << "the cells of the pieces fill both panels";
  ASSERT_EQ(drawn.learned_areas.size(), kept.learned_areas.size());
  for (const auto& [colour, area] : kept.learned_areas) {
    EXPECT_NEAR(drawn.learned_areas.at(colour), area, 0.01 * kPanel) << colour;
  }
}

}  // namespace
}  // namespace bregmax::testing
