#include "data/encoding.hpp"

#include <algorithm>

#include "bregmax/core/matrix.hpp"
#include "core/checks.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// The length of the UTF-8 character that `text` begins with; 0 if it does not begin with one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  // Longer forms than needed, surrogates, and what is beyond Unicode.
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return wrong ? 0 : length;
}

// What Windows-1252 has at 0x80 to 0x9f, where Latin-1 has control characters; 0: nothing.
constexpr char32_t kWindows[] = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
                                 0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
                                 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

char32_t windows_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 && byte < 0xa0 ? kWindows[byte - 0x80] : byte;
}

void append_utf8(std::string& text, char32_t character) {
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += static_cast<char>(0xc0 | (character >> 6));
    text += static_cast<char>(0x80 | (character & 0x3f));
  } else {
    text += static_cast<char>(0xe0 | (character >> 12));
    text += static_cast<char>(0x80 | ((character >> 6) & 0x3f));
    text += static_cast<char>(0x80 | (character & 0x3f));
  }
}

}  // namespace

std::optional<std::string> converted_to_utf8(std::string_view text, const std::string& source,
                                             std::vector<std::string>& notes) {
  unsigned char bits = 0;
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  if (bits < 0x80) return std::nullopt;  // as most files are
  std::size_t wrong = std::string_view::npos;
  bool has_utf8 = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at, 4));
    has_utf8 = has_utf8 || length > 1;
    if (length == 0 && wrong == std::string_view::npos) wrong = at;
    at += std::max<std::size_t>(length, 1);
  }
  if (wrong == std::string_view::npos) return std::nullopt;
  const Index line = 1 + std::ranges::count(text.substr(0, wrong), '\n');
  const bool known = std::ranges::all_of(text, [](char c) { return is_ascii(c) || windows_character(c) != 0; });
  require(!has_utf8 && known,
          "{}: line {}: found the byte 0x{:02x}, which is not UTF-8; allowed: UTF-8, or Latin-1 in the whole file",
          source, line, static_cast<unsigned char>(text[wrong]));
  std::string converted;
  converted.reserve(text.size() + text.size() / 8);
  for (const char c : text) append_utf8(converted, windows_character(c));
  const std::size_t begin = text.find_last_of("\n\r,;\t", wrong) + 1;
  std::string word;
  for (const char c : text.substr(begin, text.find_first_of("\n\r,;\t", wrong) - begin)) {
    append_utf8(word, windows_character(c));
  }
  notes.push_back(
      fmt::format("{}: the file is not UTF-8 (line {}) and is read as Latin-1: {}; save it as UTF-8 if that is wrong",
                  source, line, quoted_excerpt(word)));
  return converted;
}

}  // namespace bregmax::internal
