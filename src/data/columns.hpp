#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv.hpp"

namespace bregmax::internal {

// The columns of a CSV or .npy file before they are told apart.
struct Columns {
  std::string source;
  CsvContent content;
  std::function<std::vector<std::string>(Index)> spelled;  // the fields of a numeric column as the file has them
  std::string_view row_word;                               // what the numbers of content.line_of_row count

  Index rows() const { return std::ssize(content.line_of_row); }
  Index count() const { return std::ssize(content.columns); }
  const CsvColumn& at(Index column) const { return content.columns[column]; }
  const std::string& name(Index column) const { return at(column).name; }
  std::vector<std::string> texts(Index column) const { return at(column).numeric ? spelled(column) : at(column).texts; }
  std::vector<Index> missing(Index column) const;    // rows, ascending
  std::string field(Index row, Index column) const;  // for messages: quoted, or "an empty field"
  std::string place(Index row, Index column) const;  // for messages: file, line, column
  std::string list() const;                          // for messages: all names and numbers
};

// A column by its name or, failing that, by its number. Throws Error that begins with the role and lists the columns.
Index find_column(const Columns& columns, const std::string& wanted, std::string_view role);

// What to say of a column of texts that are all numbers with the other decimal sign; nothing of another column.
std::optional<std::string_view> hint_at_decimal_sign(const Columns& columns, Index column);

// What each column is for.
struct Roles {
  std::optional<Index> label, piece, id, target;
  std::vector<Index> features;  // in the order of the file, or of the recipe's columns
  std::vector<std::string> left_out, notes;
};

// Throws Error when a column has two roles, and when none is left for features.
Roles decide_roles(const Columns& columns, const TableOptions& options);

}  // namespace bregmax::internal
