#include "data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace bregmax::internal {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// from_chars reports overflow and underflow alike. The number is below 1 when the decimal exponent of its first
// nonzero digit is negative.
bool is_below_one(std::string_view number) {
  long exponent = 0;
  const std::size_t mark = number.find_first_of("eE");
  if (mark != std::string_view::npos) {
    std::string_view digits = number.substr(mark + 1);
    const bool negative = !digits.empty() && digits.front() == '-';
    if (!digits.empty() && !is_digit(digits.front())) digits.remove_prefix(1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc{}) return negative;
    if (negative) exponent = -exponent;
  }
  const std::string_view mantissa = number.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  // Lengths of a field fit easily; the exponent may be near the limits of long, so it is compared, not added to.
  return exponent < static_cast<long>(first) - static_cast<long>(point);
}

}  // namespace

std::string_view trim_spaces(std::string_view field) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
  return field;
}

ParsedNumber parse_number(std::string_view field) {
  field = trim_spaces(field);
  if (!field.empty() && field.front() == '+') {
    field.remove_prefix(1);
    if (!field.empty() && field.front() == '-') return {};
  }
  if (field.empty()) return {};
  double value = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return {};
  if (error == std::errc::result_out_of_range) {
    if (!is_below_one(field)) return {NumberKind::kNotFinite, 0};
    return {NumberKind::kFinite, field.front() == '-' ? -0.0 : 0.0};
  }
  if (!std::isfinite(value)) return {NumberKind::kNotFinite, 0};
  return {NumberKind::kFinite, value};
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
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

std::string hint_at_separator(Index columns, std::string_view text) {
  if (columns != 1) return "";
  for (const auto& [separator, name] : {std::pair{';', "semicolons"}, {'\t', "tabs"}}) {
    if (text.find(separator) != std::string_view::npos) {
      return fmt::format("; the file seems to be separated by {}, and must be by commas", name);
    }
  }
  return "";
}

}  // namespace bregmax::internal
