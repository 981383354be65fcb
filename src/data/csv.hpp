#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// The content of a CSV file before any column is given a meaning. A column is either numeric (all of its fields are
// finite numbers) or text.
struct CsvColumn {
  std::string name;
  bool numeric = true;
  std::vector<double> numbers;     // numeric columns
  std::vector<std::string> texts;  // text columns
};

struct CsvContent {
  bool has_header = false;
  std::vector<CsvColumn> columns;
  std::vector<Index> line_of_row;  // line in the file, from 1, for messages
};

// Fields are separated by commas, with or without spaces around; a field in double quotes may hold commas, line ends
// and doubled quotes. Lines end with LF, CRLF or CR; a UTF-8 byte order mark and blank lines at the end are skipped.
// Numbers have a decimal point (".28", "+1", "1e5"), whatever the locale, quoted or not.
//
// The first line is a header when none of its fields is a number (nan and inf count as numbers), or when its last field
// is a label name (see is_label_name()). Columns without a name are x0, x1, ... by their position.
//
// Refused, with file and line: ragged rows; empty fields; nan, inf or overflow in a column of numbers; a blank line
// before more rows; two columns of one name; no rows at all; and a first line that mixes numbers with a text over a
// column of numbers: it could be a header or a row with a missing value. `source` names the text in messages.
//
// kNone: the first line is a row, whatever it looks like; the caller looks for a header there.
enum class CsvHeader { kDetect, kNone };
CsvContent parse_csv(std::string_view text, const std::string& source, CsvHeader header = CsvHeader::kDetect);

// The fields of one column as spelled in `text`, from which `content` was parsed.
std::vector<std::string> csv_column_texts(std::string_view text, const CsvContent& content, Index column);

// The first row of a text column that does not hold a finite number.
Index first_text_row(const CsvColumn& column);

}  // namespace bregmax::internal
