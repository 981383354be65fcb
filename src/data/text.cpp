#include "data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <locale>
#include <sstream>
#include <utility>

namespace bregmax::internal {
namespace {

// from_chars reports overflow and underflow alike; a stream fails on overflow only.
bool overflows(std::string_view number) {
  std::istringstream stream{std::string(number)};
  stream.imbue(std::locale::classic());
  double value = 0;
  return !(stream >> value);
}

}  // namespace

std::string_view trim_spaces(std::string_view field) {
  while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
  return field;
}

std::optional<double> parse_number(std::string_view field) {
  field = trim_spaces(field);
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  double value = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc::result_out_of_range) return value;
  const double size = overflows(field) ? std::numeric_limits<double>::infinity() : 0.0;
  return field.starts_with('-') ? -size : size;
}

std::optional<double> parse_number_with_comma(std::string_view field) {
  const std::size_t comma = field.find(',');
  if (field.find('.') != std::string_view::npos) return std::nullopt;
  if (comma == std::string_view::npos) return parse_number(field);
  std::string with_point(field);
  with_point[comma] = '.';
  return parse_number(with_point);
}

bool is_missing(std::string_view field) {
  constexpr std::string_view kMarks[] = {"", "?", "na", "n/a", "nan", "null", "none"};
  constexpr std::size_t kLongest = 4;
  return field.size() <= kLongest && std::ranges::count(kMarks, lower_case(field)) > 0;
}

bool is_date_like(std::string_view field) {
  field = trim_spaces(field);
  if (field.empty() || field.front() < '0' || field.front() > '9' || parse_number(field)) return false;
  const auto in = [](std::string_view set) { return [set](char c) { return set.find(c) != std::string_view::npos; }; };
  return std::ranges::all_of(field, in("0123456789-/.:+TZ ")) && std::ranges::count_if(field, in("-/.:")) >= 2;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

void append_exact_number(std::string& text, double value) {
  constexpr int kDigits = 17;
  constexpr std::size_t kLongest = 32;  // with sign, point and exponent
  char number[kLongest];
  const auto [end, error] = std::to_chars(number, number + kLongest, value, std::chars_format::general, kDigits);
  text.append(number, end);
}

void append_csv_row(std::string& text, std::span<const double> row) {
  for (const double value : row) {
    append_exact_number(text, value);
    text += ',';
  }
  text.back() = '\n';
}

std::string csv_field(const std::string& text) {
  const bool has_outer_spaces = trim_spaces(text).size() != text.size();
  if (!has_outer_spaces && text.find_first_of(",;\t\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

bool is_label_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"class", "label", "target", "species"};
  return std::ranges::count(kNames, lower_case(trim_spaces(name))) > 0;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::size_t length = std::min(text.size(), kLongest);
  // Do not cut a UTF-8 character in half.
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  std::string shown(text.substr(0, length));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return length < text.size() ? shown + "..." : shown;
}

std::string quoted_excerpt(std::string_view text) { return '"' + excerpt(text) + '"'; }

}  // namespace bregmax::internal
