#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// The classes of the rows. Classes are numbered from 0 in the order of their first appearance; two labels are one class
// when they are spelled alike ("1" and "1.0" are not).
struct Labels {
  std::string column;                    // name of the column that they came from
  std::vector<int> of_row;               // class number of each row
  std::vector<std::string> class_names;  // as spelled in the file

  int classes() const { return static_cast<int>(class_names.size()); }
};

struct Table {
  std::string source;                      // as given, for messages
  Matrix features;                         // rows x features
  std::vector<std::string> feature_names;  // x0, x1, ... by the column number where the file names none
  std::optional<Labels> labels;
  std::optional<std::vector<int>> pieces;  // the column named by TableOptions::piece_column
  std::vector<std::string> names;          // of the rows, all different, from TableOptions::id; empty without it
};

struct TableOptions {
  // Label column: a name, a column number from 0, "none", or "auto": a last column (the piece column aside) that is
  // named class, label, target or species (any case) or is not numeric. A column that is not named so and holds texts
  // among mostly numbers is refused under "auto": it is rather a feature with a spoilt value.
  std::string label = "auto";
  // A column of whole numbers >= 0 that assigns each row to a piece, by its name or number; empty: no such column.
  std::string piece_column = {};
  // A column with a name for each row, by its name or number; empty: no such column. Names are texts as the file spells
  // them, and two rows of the same name are refused.
  std::string id = {};
};

// Reads a CSV file, a .npy file (by its ending or its first bytes), or builtin:NAME. Every feature is a finite number;
// there is at least one row and one feature. Throws Error with file and line where something is wrong.
Table read_table(const std::string& source, const TableOptions& options = {});

// The same for CSV text that is already in memory; `source` names it in messages.
Table table_from_csv(std::string_view text, const std::string& source, const TableOptions& options = {});

// The rows of `table` with the given numbers, labels, pieces and names included (class names are kept even when emptied).
Table select_rows(const Table& table, const std::vector<Index>& rows);
// One of several values per row.
std::vector<int> select_rows(const std::vector<int>& of_row, const std::vector<Index>& rows);

}  // namespace bregmax
