#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"
#include "bregmax/data/recipe.hpp"

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
  std::optional<std::vector<int>> pieces = {};  // the column named by TableOptions::piece_column
  std::vector<std::string> names = {};          // of the rows, all different, from TableOptions::id; empty without it
  std::optional<Vector> target = {};            // a number per row, from TableOptions::target
  Recipe recipe = {};                           // how the features were made of the columns
  Index dropped_rows = 0;                       // rows of the file that TableOptions::missing left out
  std::vector<std::string> left_out = {};       // columns that have no effect, each with the reason
  std::vector<std::string> notes = {};          // what was assumed, and which option says otherwise
};

enum class HeaderLine { kAuto, kYes, kNo };
enum class TextCategories { kRefuse, kOneHot };

// Columns are given by their names or their numbers from 0.
struct TableOptions {
  // Label column, "none", or "auto": the last column without another role, if it is named class, label, target or
  // species (any case) or is not numeric. Under "auto", what is more likely something else is refused: a text column of
  // mostly numbers, dates or names, and a numeric one with almost as many values as rows.
  std::string label = "auto";
  // A column of whole numbers >= 0 that assigns each row to a piece; empty: no such column.
  std::string piece_column = {};
  // A column with a name for each row; empty: no such column. Names are texts as the file spells them, and two rows of
  // the same name are refused.
  std::string id = {};
  // A column with a number for each row; empty: that of the recipe, where the file has it, or no such column.
  std::string target = {};
  bool target_optional = false;            // the file may lack that column, or numbers in it
  std::vector<std::string> ignore = {};    // columns without any effect
  std::vector<std::string> features = {};  // empty: all columns without another role
  // kAuto: the first line is a header when none of its fields is a number, when its last one is a label name, or when
  // it counts 0, 1, ..., after an empty field or not.
  HeaderLine header = HeaderLine::kAuto;
  char delimiter = '\0';                                // 0: detected among comma, semicolon and tab
  char decimal = '.';                                   // '.' or ','
  std::optional<MissingValues> missing = {};            // default: what the recipe says, or refused
  TextCategories categories = TextCategories::kRefuse;  // kOneHot: a text column makes a feature per category
  // Of the model that the rows are for: its features are made, from columns in any order. Empty: features are what the
  // file has.
  Recipe recipe = {};
};

// Reads a CSV file, a .npy file (by its ending or its first bytes), or builtin:NAME; "-" is standard input, and a name
// that ends in .gz is unpacked. Every feature is a finite number; there is at least one row and one feature. Throws
// Error with file and line where something is wrong.
Table read_table(const std::string& source, const TableOptions& options = {});

// The same for CSV text that is already in memory; `source` names it in messages.
Table table_from_csv(std::string_view text, const std::string& source, const TableOptions& options = {});

// "150 rows, 4 features (a, b, c, d), label species (3 classes: ...); left out: who (names of rows)".
std::string describe(const Table& table);

// The rows of `table` with the given numbers, with all that they have (class names are kept even when emptied).
Table select_rows(const Table& table, const std::vector<Index>& rows);
// One of several values per row.
std::vector<int> select_rows(const std::vector<int>& of_row, const std::vector<Index>& rows);

}  // namespace bregmax
