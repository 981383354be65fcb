#include "data/csv_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bregmax/core/error.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

}  // namespace

std::string CsvField::text() const {
  if (!quoted) return std::string(raw);
  std::string plain;
  plain.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    plain += raw[i];
    if (raw[i] == '"') ++i;  // the second of a doubled quote
  }
  return plain;
}

CsvScanner::CsvScanner(std::string_view text, const std::string& source)
    : at_(text.data()), end_(text.data() + text.size()), source_(source) {
  if (text.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
}

bool CsvScanner::only_blanks_left() const {
  return std::all_of(at_, end_, [](char c) { return is_space(c) || is_line_end(c); });
}

bool CsvScanner::next_row() {
  const char* first = at_;
  while (first != end_ && is_space(*first)) ++first;
  if (first != end_ && !is_line_end(*first)) return true;
  if (only_blanks_left()) return false;
  throw Error(fmt::format("{}: line {}: the line is blank; blank lines are allowed only at the end", source_, line_));
}

CsvField CsvScanner::next_field() {
  while (at_ != end_ && is_space(*at_)) ++at_;
  if (at_ != end_ && *at_ == '"') return quoted_field();
  const char* begin = at_;
  while (at_ != end_ && *at_ != ',' && !is_line_end(*at_)) ++at_;
  CsvField field;
  field.raw = trim_spaces({begin, static_cast<std::size_t>(at_ - begin)});
  field.line = line_;
  field.ends_row = finish_field();
  return field;
}

CsvField CsvScanner::quoted_field() {
  CsvField field;
  field.quoted = true;
  field.line = line_;
  const char* begin = ++at_;
  while (true) {
    if (at_ == end_) {
      throw Error(
          fmt::format("{}: line {}: a quoted field is not closed before the end of the file", source_, field.line));
    }
    if (*at_ == '"') {
      if (at_ + 1 == end_ || at_[1] != '"') break;
      ++at_;
    } else if (*at_ == '\n' || (*at_ == '\r' && (at_ + 1 == end_ || at_[1] != '\n'))) {
      ++line_;
    }
    ++at_;
  }
  field.raw = {begin, static_cast<std::size_t>(at_ - begin)};
  ++at_;
  while (at_ != end_ && is_space(*at_)) ++at_;
  if (at_ != end_ && *at_ != ',' && !is_line_end(*at_)) {
    throw Error(
        fmt::format("{}: line {}: text follows the closing quote of {}; allowed: a comma or the end of the line",
                    source_, line_, quoted_excerpt(field.raw)));
  }
  field.ends_row = finish_field();
  return field;
}

bool CsvScanner::finish_field() {
  if (at_ == end_) return true;
  const char delimiter = *at_++;
  if (delimiter == ',') return false;
  if (delimiter == '\r' && at_ != end_ && *at_ == '\n') ++at_;
  ++line_;
  return true;
}

}  // namespace bregmax::internal
