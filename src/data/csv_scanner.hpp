#pragma once

#include <string>
#include <string_view>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

struct CsvField {
  std::string_view raw;  // without surrounding spaces and quotes; doubled quotes are still doubled
  bool quoted = false;
  bool ends_row = false;
  Index line = 1;

  std::string text() const;
};

// Walks over the fields of a CSV text without copying them. A line ends with LF, CRLF or CR; a field that begins with
// a double quote runs to the closing one and may hold commas, line ends and doubled quotes.
class CsvScanner {
 public:
  // `source` only names the text in messages and must outlive the scanner.
  CsvScanner(std::string_view text, const std::string& source);

  // Moves to the next row; false at the end, where blank lines are skipped. A blank line before more rows is an Error.
  bool next_row();
  // The next field of the row; call it until a field ends the row.
  CsvField next_field();
  Index line() const { return line_; }

 private:
  CsvField quoted_field();
  // At a comma, a line end or the end of the text: steps over it and says whether the row ended.
  bool finish_field();
  bool only_blanks_left() const;

  const char* at_;
  const char* end_;
  const std::string& source_;
  Index line_ = 1;
};

}  // namespace bregmax::internal
