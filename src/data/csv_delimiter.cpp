#include <algorithm>
#include <array>
#include <vector>

#include "data/csv.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

constexpr std::array<char, 3> kDelimiters = {',', ';', '\t'};
constexpr std::size_t kSampledLines = 20;

struct SampleLine {
  std::string_view text;
  std::array<Index, kDelimiters.size()> count = {};  // of each delimiter outside quotes
  bool quotes = false;
};

// The first lines. A line end in quotes does not end a line.
std::vector<SampleLine> sample_lines(std::string_view text) {
  std::vector<SampleLine> lines;
  std::size_t at = 0;
  while (at < text.size() && lines.size() < kSampledLines) {
    SampleLine line;
    const std::size_t begin = at;
    bool quoted = false, field_begins = true;
    for (; at < text.size() && (quoted || (text[at] != '\n' && text[at] != '\r')); ++at) {
      const char c = text[at];
      if (c == '"' && (quoted || field_begins)) quoted = !quoted;
      line.quotes = line.quotes || c == '"';
      const auto delimiter = std::ranges::find(kDelimiters, c);
      const bool separates = !quoted && delimiter != kDelimiters.end();
      if (separates) ++line.count[delimiter - kDelimiters.begin()];
      field_begins = separates || (field_begins && c == ' ');
    }
    line.text = text.substr(begin, at - begin);
    if (!trim_spaces(line.text).empty()) lines.push_back(line);
    ++at;
  }
  return lines;
}

// Whether every comma of the line is a decimal comma when `delimiter` separates its fields.
bool has_only_decimal_commas(const SampleLine& line, char delimiter) {
  if (line.quotes) return false;
  for (std::size_t begin = 0; begin <= line.text.size();) {
    const std::size_t end = std::min(line.text.find(delimiter, begin), line.text.size());
    const std::string_view field = line.text.substr(begin, end - begin);
    if (field.find(',') != std::string_view::npos && !parse_number_with_comma(field)) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

char detect_delimiter(std::string_view text) {
  const std::vector<SampleLine> lines = sample_lines(text);
  if (lines.empty()) return ',';
  const auto is_regular = [&](std::size_t d) {
    return std::ranges::all_of(lines, [&](const SampleLine& line) { return line.count[d] == lines.front().count[d]; });
  };
  const bool comma = lines.front().count[0] > 0;
  for (std::size_t d = 1; d < kDelimiters.size(); ++d) {
    if (lines.front().count[d] == 0) continue;
    if (!comma) return kDelimiters[d];
    if (!is_regular(d)) continue;
    if (!is_regular(0)) return kDelimiters[d];
    // Both are possible. The first line may be a header.
    const bool decimal =
        std::all_of(lines.begin() + (lines.size() > 1 ? 1 : 0), lines.end(),
                    [&](const SampleLine& line) { return has_only_decimal_commas(line, kDelimiters[d]); });
    if (decimal) return kDelimiters[d];
  }
  return ',';
}

std::string delimiter_name(char delimiter) {
  switch (delimiter) {
    case ',':
      return "comma";
    case ';':
      return "semicolon";
    case '\t':
      return "tab";
    default:
      return std::string{'\'', delimiter, '\''};
  }
}

}  // namespace bregmax::internal
