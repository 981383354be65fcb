#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/data/table.hpp"

namespace bregmax::internal {

// The content of a CSV file before any column is given a meaning. A column is either numeric (all of its fields are
// numbers or mark a missing value) or text.
struct CsvColumn {
  std::string name;
  bool numeric = true;
  std::vector<double> numbers;           // numeric columns; NaN where the value is missing
  std::vector<std::string> texts;        // text columns
  Index first_text = 0;                  // of them: the first row that is neither a number nor missing
  std::vector<Index> missing;            // rows, ascending, of a numeric column
  std::optional<Index> not_finite = {};  // the first row with an infinite number, of a numeric column
  bool named = false;                    // by the header
};

struct CsvFormat {
  char delimiter = '\0';  // 0: detect_delimiter()
  char decimal = '.';     // or ','
  HeaderLine header = HeaderLine::kAuto;
  bool may_count = false;  // kAuto: a first line that counts 0, 1, ... is a header, too
};

struct CsvContent {
  bool has_header = false;
  bool header_counts = false;  // 0, 1, ...: taken as a header although it has numbers
  std::vector<CsvColumn> columns;
  std::vector<Index> line_of_row;  // line in the file, from 1, for messages
  CsvFormat format;                // with the delimiter that was used
};

// Fields are separated by the delimiter, with or without spaces around; a field in double quotes may hold delimiters,
// line ends and doubled quotes. Lines end with LF, CRLF or CR; a UTF-8 byte order mark and blank lines at the end are
// skipped. Numbers have a decimal point (".28", "+1", "1e5"), whatever the locale, quoted or not.
//
// The first line is a header when none of its fields is a number (nan and inf count as numbers), or when its last field
// is a label name (see is_label_name()). Columns without a name are x0, x1, ... by their position.
//
// Refused, with file and line: ragged rows; a blank line before more rows; two columns of one name; no rows at all; and
// a first line that mixes numbers with a text over a column of numbers: it could be a header or a row. `source` names
// the text in messages.
CsvContent parse_csv(std::string_view text, const std::string& source, const CsvFormat& format);

// The same, and no value may be missing or infinite.
CsvContent parse_csv(std::string_view text, const std::string& source);

// The fields of one column as spelled in `text`, from which `content` was parsed.
std::vector<std::string> csv_column_texts(std::string_view text, const CsvContent& content, Index column);

// Comma, semicolon or tab: what separates the fields of the first lines. If several do, a comma in every field that has
// one must be a decimal comma for it not to be the delimiter.
char detect_delimiter(std::string_view text);
std::string delimiter_name(char delimiter);

}  // namespace bregmax::internal
