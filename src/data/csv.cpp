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
  Scanner(std::string_view text, const std::string& source)
      : at_(text.data()), end_(text.data() + text.size()), source_(source) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
  }

  // Whether another row follows. Blank lines are allowed only at the end: one before more rows is an Error.
  bool has_row() {
    const char* first = std::find_if_not(at_, end_, is_space);
    if (first != end_ && !is_line_end(*first)) return true;
    const bool more = std::any_of(at_, end_, [](char c) { return !is_space(c) && !is_line_end(c); });
    require(!more, "{}: line {}: the line is blank; blank lines are allowed only at the end", source_, line_);
    return false;
  }

  // The next field of the row; call it until a field ends the row.
  Field next_field() {
    at_ = std::find_if_not(at_, end_, is_space);
    Field field{{}, at_ != end_ && *at_ == '"', false, line_};
    if (field.quoted) {
      read_quoted(field);
    } else {
      const char* begin = at_;
      while (at_ != end_ && *at_ != ',' && !is_line_end(*at_)) ++at_;
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
    at_ = std::find_if_not(at_ + 1, end_, is_space);
    if (at_ == end_ || *at_ == ',' || is_line_end(*at_)) return;
    fail("{}: line {}: text follows the closing quote of {}; allowed: a comma or the end of the line", source_, line_,
         quoted_excerpt(field.raw));
  }

  // At a comma, a line end or the end of the text: steps over it and says whether the row ended.
  bool finish_field() {
    if (at_ == end_) return true;
    const char delimiter = *at_++;
    if (delimiter == ',') return false;
    if (delimiter == '\r' && at_ != end_ && *at_ == '\n') ++at_;
    ++line_;
    return true;
  }

  const char* at_;
  const char* end_;
  const std::string& source_;
  Index line_ = 1;
};

bool is_header(const std::vector<Field>& first_row) {
  if (is_label_name(first_row.back().text())) return true;
  return std::ranges::none_of(first_row, is_number_like, &Field::raw) &&
         std::ranges::any_of(first_row, [](const Field& field) { return !field.raw.empty(); });
}

std::vector<CsvColumn> make_columns(const std::vector<Field>& first_row, bool header, const std::string& source) {
  std::vector<CsvColumn> columns(first_row.size());
  std::unordered_map<std::string, std::size_t> column_of_name;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::string name = header ? first_row[c].text() : "";
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
  RowReader(CsvContent& content, const std::string& source)
      : content_(content), source_(source), not_finite_(content.columns.size()) {}

  void add_field(std::size_t column, const Field& field) {
    if (field.raw.empty()) {
      refuse(column, field, "an empty field",
             "a number or, in the label column, a text; rows with missing values must be left out or filled in");
    }
    CsvColumn& target = content_.columns[column];
    if (!target.numeric) return;
    const std::optional<double> value = parse_number(field.raw);
    if (!value) {
      target.numeric = false;
      target.numbers = {};
      return;
    }
    if (!std::isfinite(*value) && !not_finite_[column]) not_finite_[column] = field;
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
      fail("{}: line {}: found {} field{}; expected {}, as in the first line{}", source_, line, found,
           found == 1 ? "" : "s", expected, hint_at_separator(expected, content_.columns.front().name));
    }
    content_.line_of_row.push_back(line);
  }

  void refuse_numbers_that_are_not_finite() const {
    for (std::size_t c = 0; c < not_finite_.size(); ++c) {
      if (!content_.columns[c].numeric || !not_finite_[c]) continue;
      refuse(c, *not_finite_[c], quoted_excerpt(not_finite_[c]->raw), "a finite number");
    }
  }

 private:
  [[noreturn]] void refuse(std::size_t column, const Field& field, std::string_view found,
                           std::string_view allowed) const {
    fail("{}: line {}, column {}: found {}; allowed: {}", source_, field.line, excerpt(content_.columns[column].name),
         found, allowed);
  }

  CsvContent& content_;
  const std::string& source_;
  std::vector<std::optional<Field>> not_finite_;
};

// Every field of the wanted columns as text.
std::vector<std::vector<std::string>> gather_texts(std::string_view text, const CsvContent& content,
                                                   const std::vector<bool>& wanted) {
  const std::string source;  // the text was scanned before, so there are no messages
  Scanner scanner(text, source);
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
    if (!std::all_of(column.texts.begin() + 1, column.texts.end(), is_number_like)) continue;
    fail(
        "{}: line {}, column {}: found {}, but every other field of the column is a number; allowed: a finite number, "
        "or a header line without any numbers in it",
        source, content.line_of_row.front(), excerpt(column.name), quoted_excerpt(column.texts.front()));
  }
}

void refuse_binary(std::string_view text, const std::string& source) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return;
  fail("{}: line {}: found a zero byte; a CSV file is UTF-8 text", source,
       1 + std::ranges::count(text.substr(0, nul), '\n'));
}

}  // namespace

CsvContent parse_csv(std::string_view text, const std::string& source, CsvHeader header) {
  refuse_binary(text, source);
  Scanner scanner(text, source);
  CsvContent content;
  require(scanner.has_row(), "{}: the file is empty; expected rows of numbers", source);
  const Index first_line = scanner.line();
  const std::vector<Field> first_row = scanner.rest_of_row();
  content.has_header = header == CsvHeader::kDetect && is_header(first_row);
  content.columns = make_columns(first_row, content.has_header, source);

  RowReader reader(content, source);
  if (!content.has_header) {
    for (std::size_t c = 0; c < first_row.size(); ++c) reader.add_field(c, first_row[c]);
    content.line_of_row.push_back(first_line);
  }
  while (scanner.has_row()) reader.add_row(scanner);
  require(!content.line_of_row.empty(), "{}: found a header line and no rows; expected at least one row", source);
  reader.refuse_numbers_that_are_not_finite();

  std::vector<bool> is_text(content.columns.size());
  for (std::size_t j = 0; j < is_text.size(); ++j) is_text[j] = !content.columns[j].numeric;
  if (std::ranges::count(is_text, true) > 0) {
    auto texts = gather_texts(text, content, is_text);
    for (std::size_t c = 0; c < texts.size(); ++c) content.columns[c].texts = std::move(texts[c]);
  }
  if (header == CsvHeader::kDetect && !content.has_header) refuse_ambiguous_first_line(content, source);
  return content;
}

std::vector<std::string> csv_column_texts(std::string_view text, const CsvContent& content, Index column) {
  std::vector<bool> wanted(content.columns.size(), false);
  wanted.at(column) = true;
  return std::move(gather_texts(text, content, wanted)[column]);
}

Index first_text_row(const CsvColumn& column) {
  const auto is_text = [](const std::string& t) { return !std::isfinite(parse_number(t).value_or(NAN)); };
  return std::ranges::find_if(column.texts, is_text) - column.texts.begin();
}

}  // namespace bregmax::internal
