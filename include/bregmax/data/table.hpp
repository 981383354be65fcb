#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// The classes of the rows. Classes are numbered from 0 in the order of their first appearance.
struct Labels {
  std::string column;                    // name of the column that they came from
  std::vector<int> of_row;               // class number of each row
  std::vector<std::string> class_names;  // as spelled in the file

  int classes() const { return static_cast<int>(class_names.size()); }
};

struct Table {
  std::string source;                      // as given, for messages
  Matrix features;                         // rows x features
  std::vector<std::string> feature_names;  // x0, x1, ... where the file names none
  std::optional<Labels> labels;
  std::optional<std::vector<int>> pieces;  // the column named by TableOptions::piece_column
};

struct TableOptions {
  // Label column: a name, a column number from 0, "none", or "auto": a last column that is named class, label,
  // target or species (any case) or is not numeric.
  std::string label = "auto";
  std::string piece_column;  // a column of whole numbers >= 0 that assigns each row to a piece; empty: there is none
};

// Reads a CSV file, a .npy file, or builtin:NAME. Throws Error with file and line where something is wrong.
Table read_table(const std::string& source, const TableOptions& options = {});

// The rows of `table` with the given numbers, labels and pieces included (class names are kept even when emptied).
Table select_rows(const Table& table, const std::vector<Index>& rows);

}  // namespace bregmax
