// What the documents say is what the program does.
#include <gmock/gmock.h>

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

// The targets of links to files of the project; those to the web, within a page and in blocks of code are left out.
std::vector<std::string> linked_files(const std::string& text) {
  std::vector<std::string> files;
  std::istringstream lines(text);
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    code ^= line.starts_with("```");
    if (code) continue;
    for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
      const std::string file = line.substr(at + 2, line.find_first_of("#)", at + 2) - at - 2);
      if (!file.empty() && file.find(':') == std::string::npos) files.push_back(file);
    }
  }
  return files;
}

TEST(Docs, LinksLeadToFiles) {
  const std::filesystem::path root = BREGMAX_SOURCE_DIR;
  std::vector<std::filesystem::path> pages = {root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::size_t links = 0;
  for (const std::filesystem::path& page : pages) {
    for (const std::string& file : linked_files(read_file(page.string()))) {
      ++links;
      EXPECT_TRUE(std::filesystem::exists(page.parent_path() / file)) << page << " links to " << file;
    }
  }
  EXPECT_GT(links, 50u) << "the links of the pages were not found";
}

TEST(Docs, OptionsAreWhatTheProgramPrints) {
  const TemporaryDirectory directory;
  EXPECT_EQ(document("docs/options.md"), run(directory, {"help-markdown"}).out)
      << "run: bregmax help-markdown > docs/options.md";
}

TEST(Docs, CommandsOfTheReadmeRun) { expect_blocks_run("README.md"); }

TEST(Docs, CommandsOfTheGuideRun) { expect_blocks_run("docs/guide.md"); }

TEST(Docs, PictureIsTheOneOfTheDemo) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run(directory, {"demo"}).exit_code, 0);
  // Rounding differs between machines and compilers, what is drawn does not.
  const std::string drawn = read_file(directory / "bregmax-demo.svg");
  const std::string kept = document("docs/demo.svg");
  EXPECT_EQ(drawn.substr(0, drawn.find("<polygon")), kept.substr(0, kept.find("<polygon")));
  EXPECT_NEAR(static_cast<double>(drawn.size()), static_cast<double>(kept.size()),
              0.1 * static_cast<double>(kept.size()));
}

}  // namespace
}  // namespace bregmax::testing
