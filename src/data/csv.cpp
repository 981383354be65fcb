#include "data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "bregmax/core/error.hpp"
#include "data/csv_scanner.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace {

using internal::CsvField;
using internal::CsvScanner;
using internal::is_number_like;
using internal::NumberKind;
using internal::parse_number;
using internal::quoted_excerpt;

std::vector<CsvField> read_row(CsvScanner& scanner) {
  std::vector<CsvField> row;
  do {
    row.push_back(scanner.next_field());
  } while (!row.back().ends_row);
  return row;
}

bool is_header(const std::vector<CsvField>& first_row) {
  if (internal::is_label_name(first_row.back().text())) return true;
  const auto is_name = [](const CsvField& field) { return !field.raw.empty() && !is_number_like(field.raw); };
  return std::any_of(first_row.begin(), first_row.end(), is_name) &&
         std::none_of(first_row.begin(), first_row.end(), [](const CsvField& f) { return is_number_like(f.raw); });
}

std::vector<CsvColumn> make_columns(const std::vector<CsvField>& first_row, bool header, const std::string& source) {
  std::vector<CsvColumn> columns(first_row.size());
  std::unordered_map<std::string, std::size_t> column_of_name;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::string name = header ? first_row[c].text() : "";
    columns[c].name = name.empty() ? fmt::format("x{}", c) : std::move(name);
    const auto [same, fresh] = column_of_name.emplace(columns[c].name, c);
    if (!fresh) {
      throw Error(fmt::format("{}: line {}: columns {} and {} (from 0) are both named {}; names must differ", source,
                              first_row[c].line, same->second, c, quoted_excerpt(columns[c].name)));
    }
  }
  return columns;
}

// Fills the columns row by row. A column is read as numbers until a field is not one; its texts are gathered later, in
// a second pass over the file, so that numeric columns never make a string.
class RowReader {
 public:
  RowReader(CsvContent& content, const std::string& source)
      : content_(content), source_(source), not_finite_(content.columns.size()) {}

  void add_field(std::size_t column, const CsvField& field) {
    if (field.raw.empty()) {
      fail(column, field, "an empty field",
           "a number or, in the label column, a text; rows with missing values must be left out or filled in");
    }
    CsvColumn& target = content_.columns[column];
    if (!target.numeric) return;
    const auto [kind, value] = parse_number(field.raw);
    if (kind == NumberKind::kText) {
      target.numeric = false;
      target.numbers = {};
      return;
    }
    if (kind == NumberKind::kNotFinite && !not_finite_[column]) not_finite_[column] = field;
    target.numbers.push_back(value);
  }

  void add_row(CsvScanner& scanner) {
    const Index line = scanner.line();
    const std::size_t expected = content_.columns.size();
    std::size_t found = 0;
    CsvField field;
    do {
      field = scanner.next_field();
      if (found < expected && !(field.ends_row && found + 1 < expected)) add_field(found, field);
      ++found;
    } while (!field.ends_row);
    if (found != expected) {
      throw Error(
          fmt::format("{}: line {}: found {} field{}; expected {}, as in the first line{}", source_, line, found,
                      found == 1 ? "" : "s", expected,
                      internal::hint_at_separator(static_cast<Index>(expected), content_.columns.front().name)));
    }
    content_.line_of_row.push_back(line);
  }

  void refuse_numbers_that_are_not_finite() const {
    for (std::size_t c = 0; c < not_finite_.size(); ++c) {
      if (content_.columns[c].numeric && not_finite_[c]) {
        fail(c, *not_finite_[c], quoted_excerpt(not_finite_[c]->raw), "a finite number");
      }
    }
  }

 private:
  [[noreturn]] void fail(std::size_t column, const CsvField& field, std::string_view found,
                         std::string_view allowed) const {
    throw Error(fmt::format("{}: line {}, column {}: found {}; allowed: {}", source_, field.line,
                            internal::excerpt(content_.columns[column].name), found, allowed));
  }

  CsvContent& content_;
  const std::string& source_;
  std::vector<std::optional<CsvField>> not_finite_;
};

// Every field of the wanted columns as text.
std::vector<std::vector<std::string>> gather_texts(std::string_view text, const CsvContent& content,
                                                   const std::vector<bool>& wanted) {
  const std::string source;  // the text was scanned before, so there are no messages
  CsvScanner scanner(text, source);
  std::vector<std::vector<std::string>> texts(wanted.size());
  for (std::size_t c = 0; c < wanted.size(); ++c) {
    if (wanted[c]) texts[c].reserve(content.line_of_row.size());
  }
  if (content.has_header && scanner.next_row()) read_row(scanner);
  while (scanner.next_row()) {
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      const CsvField field = scanner.next_field();
      if (wanted[c]) texts[c].push_back(field.text());
    }
  }
  return texts;
}

// A text over numbers in a first line that is not a header: a name among numbers, or a missing value such as "NA".
void refuse_ambiguous_first_line(const CsvContent& content, const std::string& source) {
  for (const CsvColumn& column : content.columns) {
    if (column.numeric || column.texts.size() < 2 || is_number_like(column.texts.front())) continue;
    if (std::all_of(column.texts.begin() + 1, column.texts.end(), [](const auto& t) { return is_number_like(t); })) {
      throw Error(fmt::format(
          "{}: line {}, column {}: found {}, but every other field of the column is a number; allowed: a "
          "finite number, "
          "or a header line without any numbers in it",
          source, content.line_of_row.front(), internal::excerpt(column.name), quoted_excerpt(column.texts.front())));
    }
  }
}

void refuse_binary(std::string_view text, const std::string& source) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
  throw Error(fmt::format("{}: line {}: found a zero byte; a CSV file is UTF-8 text", source, line));
}

}  // namespace

CsvContent parse_csv(std::string_view text, const std::string& source) {
  refuse_binary(text, source);
  CsvScanner scanner(text, source);
  CsvContent content;
  if (!scanner.next_row()) throw Error(fmt::format("{}: the file is empty; expected rows of numbers", source));
  const Index first_line = scanner.line();
  const std::vector<CsvField> first_row = read_row(scanner);
  content.has_header = is_header(first_row);
  content.columns = make_columns(first_row, content.has_header, source);

  RowReader reader(content, source);
  if (!content.has_header) {
    for (std::size_t c = 0; c < first_row.size(); ++c) reader.add_field(c, first_row[c]);
    content.line_of_row.push_back(first_line);
  }
  while (scanner.next_row()) reader.add_row(scanner);
  if (content.line_of_row.empty()) {
    throw Error(fmt::format("{}: found a header line and no rows; expected at least one row", source));
  }
  reader.refuse_numbers_that_are_not_finite();

  std::vector<bool> is_text;
  is_text.reserve(content.columns.size());
  for (const CsvColumn& column : content.columns) is_text.push_back(!column.numeric);
  if (std::find(is_text.begin(), is_text.end(), true) != is_text.end()) {
    auto texts = gather_texts(text, content, is_text);
    for (std::size_t c = 0; c < texts.size(); ++c) content.columns[c].texts = std::move(texts[c]);
  }
  if (!content.has_header) refuse_ambiguous_first_line(content, source);
  return content;
}

std::vector<std::string> csv_column_texts(std::string_view text, const CsvContent& content, Index column) {
  std::vector<bool> wanted(content.columns.size(), false);
  wanted.at(static_cast<std::size_t>(column)) = true;
  return std::move(gather_texts(text, content, wanted)[static_cast<std::size_t>(column)]);
}

Index first_text_row(const CsvColumn& column) {
  const auto is_text = [](const std::string& t) { return parse_number(t).kind != NumberKind::kFinite; };
  return std::find_if(column.texts.begin(), column.texts.end(), is_text) - column.texts.begin();
}

}  // namespace bregmax
