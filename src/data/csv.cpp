#include "data/csv.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/checks.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

struct Field {
  std::string_view raw;  // without surrounding spaces and quotes; doubled quotes are still doubled
  bool quoted = false;
  bool ends_row = false;
  Index line = 1;

  std::string text() const {
    if (!quoted) return std::string(raw);
    std::string plain;
    plain.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      plain += raw[i];
      if (raw[i] == '"') ++i;  // the second of a doubled quote
    }
    return plain;
  }
};

// Walks over the fields of a CSV text without copying them.
class Scanner {
 public:
  // `source` only names the text in messages and must outlive the scanner.
  Scanner(std::string_view text, const std::string& source, char delimiter)
      : at_(text.data()), end_(text.data() + text.size()), source_(source), delimiter_(delimiter) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
  }

  // Whether another row follows. Blank lines are allowed only at the end: one before more rows is an Error.
  bool has_row() {
    const char* first = skip_blanks(at_);
    if (first != end_ && !is_line_end(*first)) return true;
    const bool more = std::any_of(at_, end_, [](char c) { return !is_space(c) && !is_line_end(c); });
    require(!more, "{}: line {}: the line is blank; blank lines are allowed only at the end", source_, line_);
    return false;
  }

  // The next field of the row; call it until a field ends the row.
  Field next_field() {
    at_ = skip_blanks(at_);
    Field field{{}, at_ != end_ && *at_ == '"', false, line_};
    if (field.quoted) {
      read_quoted(field);
    } else {
      const char* begin = at_;
      while (at_ != end_ && *at_ != delimiter_ && !is_line_end(*at_)) ++at_;
      field.raw = trim_spaces({begin, at_});
    }
    field.ends_row = finish_field();
    return field;
  }

  std::vector<Field> rest_of_row() {
    std::vector<Field> row;
    do {
      row.push_back(next_field());
    } while (!row.back().ends_row);
    return row;
  }

  Index line() const { return line_; }

 private:
  const char* skip_blanks(const char* from) const {
    return std::find_if_not(from, end_, [this](char c) { return is_space(c) && c != delimiter_; });
  }

  void read_quoted(Field& field) {
    const char* begin = ++at_;
    for (;; ++at_) {
      require(at_ != end_, "{}: line {}: a quoted field is not closed before the end of the file", source_, field.line);
      if (*at_ == '"') {
        if (at_ + 1 == end_ || at_[1] != '"') break;
        ++at_;
      } else if (*at_ == '\n' || (*at_ == '\r' && (at_ + 1 == end_ || at_[1] != '\n'))) {
        ++line_;
      }
    }
    field.raw = {begin, at_};
    at_ = skip_blanks(at_ + 1);
    if (at_ == end_ || *at_ == delimiter_ || is_line_end(*at_)) return;
    fail("{}: line {}: text follows the closing quote of {}; allowed: a {} or the end of the line", source_, line_,
         quoted_excerpt(field.raw), delimiter_name(delimiter_));
  }

  // At a delimiter, a line end or the end of the text: steps over it and says whether the row ended.
  bool finish_field() {
    if (at_ == end_) return true;
    const char last = *at_++;
    if (last == delimiter_) return false;
    if (last == '\r' && at_ != end_ && *at_ == '\n') ++at_;
    ++line_;
    return true;
  }

  const char* at_;
  const char* end_;
  const std::string& source_;
  char delimiter_;
  Index line_ = 1;
};

// 0, 1, ..., perhaps after an empty field: what pandas writes over columns without names.
bool counts_up(const std::vector<Field>& row) {
  const std::size_t index = row.front().raw.empty() ? 1 : 0;
  if (row.size() < index + 2) return false;
  for (std::size_t c = index; c < row.size(); ++c) {
    if (row[c].raw != std::to_string(c - index)) return false;
  }
  return true;
}

bool looks_like_header(const std::vector<Field>& first_row) {
  if (is_label_name(first_row.back().text())) return true;
  const auto is_number = [](std::string_view field) { return is_number_like(field) || parse_number_with_comma(field); };
  return std::ranges::none_of(first_row, is_number, &Field::raw) &&
         std::ranges::any_of(first_row, [](const Field& field) { return !field.raw.empty(); });
}

std::vector<CsvColumn> make_columns(const std::vector<Field>& first_row, bool header, const std::string& source) {
  std::vector<CsvColumn> columns(first_row.size());
  std::unordered_map<std::string, std::size_t> column_of_name;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::string name = header ? first_row[c].text() : "";
    columns[c].named = !name.empty();
    columns[c].name = name.empty() ? fmt::format("x{}", c) : std::move(name);
    const auto [same, fresh] = column_of_name.emplace(columns[c].name, c);
    require(fresh, "{}: line {}: columns {} and {} (from 0) are both named {}; names must differ", source,
            first_row[c].line, same->second, c, quoted_excerpt(columns[c].name));
  }
  return columns;
}

// Fills the columns row by row. A column is read as numbers until a field is not one; its texts are gathered later, in
// a second pass over the file, so that numeric columns never make a string.
class RowReader {
 public:
  RowReader(CsvContent& content, const std::string& source) : content_(content), source_(source) {}

  void add_field(std::size_t column, const Field& field) {
    CsvColumn& target = content_.columns[column];
    if (!target.numeric) return;
    std::optional<double> value =
        content_.format.decimal == ',' ? parse_number_with_comma(field.raw) : parse_number(field.raw);
    if (!value || std::isnan(*value)) {
      if (is_missing(field.raw)) {
        target.missing.push_back(std::ssize(target.numbers));
        value = NAN;
      } else if (!value) {
        make_text(target);
        return;
      }
    }
    const bool is_known = target.missing.empty() || target.missing.back() != std::ssize(target.numbers);
    if (!std::isfinite(*value) && is_known && !target.not_finite) target.not_finite = std::ssize(target.numbers);
    target.numbers.push_back(*value);
  }

  void add_row(Scanner& scanner) {
    const Index line = scanner.line();
    const std::size_t expected = content_.columns.size();
    std::size_t found = 0;
    for (bool ended = false; !ended; ++found) {
      const Field field = scanner.next_field();
      ended = field.ends_row;
      if (found < expected && !(ended && found + 1 < expected)) add_field(found, field);
    }
    if (found != expected) {
      fail("{}: line {}: found {} field{}; expected {}, as in the first line", source_, line, found,
           found == 1 ? "" : "s", expected);
    }
    content_.line_of_row.push_back(line);
  }

 private:
  static void make_text(CsvColumn& column) {
    column.numeric = false;
    column.first_text = std::ssize(column.numbers);
    column.numbers = {};
    column.missing = {};
    column.not_finite = std::nullopt;
  }

  CsvContent& content_;
  const std::string& source_;
};

// Every field of the wanted columns as text.
std::vector<std::vector<std::string>> gather_texts(std::string_view text, const CsvContent& content,
                                                   const std::vector<bool>& wanted) {
  const std::string source;  // the text was scanned before, so there are no messages
  Scanner scanner(text, source, content.format.delimiter);
  std::vector<std::vector<std::string>> texts(wanted.size());
  if (content.has_header && scanner.has_row()) scanner.rest_of_row();
  while (scanner.has_row()) {
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      const Field field = scanner.next_field();
      if (wanted[c]) texts[c].push_back(field.text());
    }
  }
  return texts;
}

// Refuses a first line, not a header, with a text above numbers: a name, or a missing value such as "NA".
void refuse_ambiguous_first_line(const CsvContent& content, const std::string& source) {
  for (const CsvColumn& column : content.columns) {
    if (column.numeric || column.texts.size() < 2 || is_number_like(column.texts.front())) continue;
    const auto is_number = [](const std::string& text) { return is_number_like(text) || is_missing(text); };
    if (!std::all_of(column.texts.begin() + 1, column.texts.end(), is_number)) continue;
    fail(
        "{}: line {}, column {}: found {}, but every other field of the column is a number; allowed: a finite number, "
        "or a header line without any numbers in it (--header yes or no decides)",
        source, content.line_of_row.front(), excerpt(column.name), quoted_excerpt(column.texts.front()));
  }
}

void refuse_binary(std::string_view text, const std::string& source) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return;
  const bool utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  require(!utf16, "{}: the file is UTF-16 text; a CSV file is UTF-8 text: save it as that", source);
  fail("{}: line {}: found a zero byte; a CSV file is UTF-8 text", source,
       1 + std::ranges::count(text.substr(0, nul), '\n'));
}

bool has_header(const std::vector<Field>& first_row, bool more_rows, CsvContent& content) {
  if (content.format.header != HeaderLine::kAuto) return content.format.header == HeaderLine::kYes;
  if (looks_like_header(first_row)) return true;
  content.header_counts = content.format.may_count && more_rows && counts_up(first_row);
  return content.header_counts;
}

}  // namespace

CsvContent parse_csv(std::string_view text, const std::string& source, const CsvFormat& format) {
  refuse_binary(text, source);
  CsvContent content;
  content.format = format;
  if (format.delimiter == '\0') content.format.delimiter = detect_delimiter(text);
  Scanner scanner(text, source, content.format.delimiter);
  require(scanner.has_row(), "{}: the file is empty; expected rows of numbers", source);
  const Index first_line = scanner.line();
  const std::vector<Field> first_row = scanner.rest_of_row();
  content.has_header = has_header(first_row, scanner.has_row(), content);
  content.columns = make_columns(first_row, content.has_header, source);

  RowReader reader(content, source);
  if (!content.has_header) {
    for (std::size_t c = 0; c < first_row.size(); ++c) reader.add_field(c, first_row[c]);
    content.line_of_row.push_back(first_line);
  }
  while (scanner.has_row()) reader.add_row(scanner);
  require(!content.line_of_row.empty(), "{}: found a header line and no rows; expected at least one row", source);

  std::vector<bool> is_text(content.columns.size());
  for (std::size_t j = 0; j < is_text.size(); ++j) is_text[j] = !content.columns[j].numeric;
  if (std::ranges::count(is_text, true) > 0) {
    auto texts = gather_texts(text, content, is_text);
    for (std::size_t c = 0; c < texts.size(); ++c) content.columns[c].texts = std::move(texts[c]);
  }
  if (!content.has_header && format.header == HeaderLine::kAuto) refuse_ambiguous_first_line(content, source);
  return content;
}

CsvContent parse_csv(std::string_view text, const std::string& source) {
  CsvContent content = parse_csv(text, source, CsvFormat{});
  for (Index c = 0; c < std::ssize(content.columns); ++c) {
    const CsvColumn& column = content.columns[c];
    std::optional<Index> bad = column.not_finite;
    if (!column.missing.empty()) bad = std::min(column.missing.front(), bad.value_or(content.line_of_row.size()));
    const auto empty = std::ranges::find_if(column.texts, [](const std::string& t) { return t.empty(); });
    if (empty != column.texts.end()) bad = empty - column.texts.begin();
    if (!bad) continue;
    const std::string found = csv_column_texts(text, content, c)[*bad];
    fail("{}: line {}, column {}: found {}; allowed: a finite number{}", source, content.line_of_row[*bad],
         excerpt(column.name), found.empty() ? "an empty field" : quoted_excerpt(found),
         *bad == 0 && !content.has_header ? ", or a header line without any numbers in it" : "");
  }
  return content;
}

std::vector<std::string> csv_column_texts(std::string_view text, const CsvContent& content, Index column) {
  std::vector<bool> wanted(content.columns.size(), false);
  wanted.at(column) = true;
  return std::move(gather_texts(text, content, wanted)[column]);
}

}  // namespace bregmax::internal
