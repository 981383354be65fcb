#include "bregmax/data/table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "bregmax/data/builtin.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "data/csv.hpp"
#include "data/file.hpp"
#include "data/npy.hpp"
#include "data/text.hpp"

namespace bregmax {

using internal::CsvColumn;
using internal::fail;
using internal::quoted_excerpt;
using internal::require;

namespace {

constexpr std::string_view kBuiltinPrefix = "builtin:";

// The columns of a CSV or .npy file before they are told apart.
struct Columns {
  const std::string& source;
  internal::CsvContent content;
  std::function<std::vector<std::string>(Index)> spelled;  // the fields of a numeric column as the file has them
  std::string_view row_word;                               // what the numbers of content.line_of_row count

  Index rows() const { return std::ssize(content.line_of_row); }
  Index count() const { return std::ssize(content.columns); }
  const CsvColumn& at(Index column) const { return content.columns[column]; }
  std::string place(Index row, Index column) const {
    return fmt::format("{}: {} {}, column {}", source, row_word, content.line_of_row[row],
                       internal::excerpt(at(column).name));
  }
};

std::string column_list(const Columns& columns) {
  constexpr Index kMost = 20;
  std::string list;
  for (Index c = 0; c < std::min(columns.count(), kMost); ++c) {
    list += fmt::format("{}{} ({})", c == 0 ? "" : ", ", internal::excerpt(columns.at(c).name), c);
  }
  if (columns.count() > kMost) list += fmt::format(", ... ({} columns in all)", columns.count());
  return list;
}

// A column by its name or, failing that, by its number.
Index find_column(const Columns& columns, const std::string& wanted, std::string_view role) {
  for (Index c = 0; c < columns.count(); ++c) {
    if (columns.at(c).name == wanted) return c;
  }
  const auto number = internal::number_in<Index>(wanted);
  if (number && *number >= 0 && *number < columns.count()) return *number;
  fail("{}: {} is {}, which is not a column; the columns and their numbers are {}", columns.source, role,
       quoted_excerpt(wanted), column_list(columns));
}

// A last column of mostly numbers with a text among them is a spoilt feature rather than the labels, and taking it as
// the labels would hide that.
void refuse_spoilt_numbers(const Columns& columns, Index column) {
  const std::vector<std::string>& texts = columns.at(column).texts;
  if (2 * std::ranges::count_if(texts, internal::is_number_like) <= std::ssize(texts)) return;
  const Index row = first_text_row(columns.at(column));
  fail("{}: found {} in a column of mostly numbers; allowed: a finite number, or name the column as the label",
       columns.place(row, column), quoted_excerpt(texts[row]));
}

std::optional<Index> find_label_column(const Columns& columns, const std::string& label,
                                       std::initializer_list<std::optional<Index>> taken) {
  if (label == "none") return std::nullopt;
  if (label != "auto") return find_column(columns, label, "the label column");
  Index last = columns.count() - 1;
  while (last >= 0 && std::ranges::find(taken, std::optional(last)) != taken.end()) --last;
  if (last < 0) return std::nullopt;
  if (columns.content.has_header && internal::is_label_name(columns.at(last).name)) return last;
  if (columns.at(last).numeric) return std::nullopt;
  refuse_spoilt_numbers(columns, last);
  return last;
}

std::vector<std::string> texts_of(const Columns& columns, Index column) {
  return columns.at(column).numeric ? columns.spelled(column) : columns.at(column).texts;
}

Labels make_labels(const Columns& columns, Index column) {
  Labels labels;
  labels.column = columns.at(column).name;
  std::unordered_map<std::string, int> class_of_name;
  for (const std::string& text : texts_of(columns, column)) {
    const auto [entry, fresh] = class_of_name.emplace(text, labels.classes());
    if (fresh) labels.class_names.push_back(text);
    labels.of_row.push_back(entry->second);
  }
  return labels;
}

[[noreturn]] void refuse_text_column(const Columns& columns, Index column, std::string_view reason) {
  const Index row = first_text_row(columns.at(column));
  const std::string& text = columns.at(column).texts[row];
  const std::string separator = internal::hint_at_separator(columns.count(), text);
  fail("{}: found {}; allowed: a finite number{}", columns.place(row, column), quoted_excerpt(text),
       separator.empty() ? reason : separator);
}

std::vector<int> make_pieces(const Columns& columns, Index column) {
  if (!columns.at(column).numeric) refuse_text_column(columns, column, ", since it says the piece of each row");
  std::vector<int> pieces;
  for (const double number : columns.at(column).numbers) {
    if (number < 0 || number != std::floor(number) || number > std::numeric_limits<int>::max()) {
      fail("{}: found {}; allowed: whole numbers from 0, since it says the piece of each row",
           columns.place(std::ssize(pieces), column), number);
    }
    pieces.push_back(static_cast<int>(number));
  }
  return pieces;
}

std::vector<std::string> make_names(const Columns& columns, Index column) {
  std::vector<std::string> names = texts_of(columns, column);
  std::unordered_map<std::string_view, Index> row_of_name;
  for (Index row = 0; row < columns.rows(); ++row) {
    const auto [same, fresh] = row_of_name.emplace(names[row], row);
    if (fresh) continue;
    fail("{}: found {}, which {} {} has, too; allowed: a different name for each row, since --id names the column",
         columns.place(row, column), quoted_excerpt(names[row]), columns.row_word,
         columns.content.line_of_row[same->second]);
  }
  return names;
}

// Throws Error when a column has two roles.
void check_roles(const Columns& columns,
                 std::initializer_list<std::pair<std::string_view, std::optional<Index>>> roles) {
  for (const auto* one = roles.begin(); one != roles.end(); ++one) {
    for (const auto* other = roles.begin(); other != one; ++other) {
      if (!one->second || one->second != other->second) continue;
      fail("{}: column {} is named as both the {} and the {} column", columns.source, columns.at(*one->second).name,
           other->first, one->first);
    }
  }
}

Table make_table(const Columns& columns, const TableOptions& options) {
  Table table;
  table.source = columns.source;
  std::optional<Index> piece_column;
  if (!options.piece_column.empty()) piece_column = find_column(columns, options.piece_column, "the piece column");
  std::optional<Index> id_column;
  if (!options.id.empty()) id_column = find_column(columns, options.id, "the column of --id");
  const std::optional<Index> label_column = find_label_column(columns, options.label, {piece_column, id_column});
  check_roles(columns, {{"label", label_column}, {"piece", piece_column}, {"id", id_column}});
  if (id_column) table.names = make_names(columns, *id_column);
  if (label_column) table.labels = make_labels(columns, *label_column);
  if (piece_column) table.pieces = make_pieces(columns, *piece_column);

  std::vector<const double*> features;
  for (Index c = 0; c < columns.count(); ++c) {
    if (c == label_column || c == piece_column || c == id_column) continue;
    if (!columns.at(c).numeric) {
      refuse_text_column(columns, c, ", since it is a feature (of texts only the label column may be)");
    }
    features.push_back(columns.at(c).numbers.data());
    table.feature_names.push_back(columns.at(c).name);
  }
  require(!features.empty(),
          "{}: no feature columns are left besides the label and piece columns; the columns, separated by commas, are "
          "{}{}",
          columns.source, column_list(columns), internal::hint_at_separator(columns.count(), columns.at(0).name));
  table.features.resize(columns.rows(), std::ssize(features));
  for (Index row = 0; row < columns.rows(); ++row) {
    for (Index c = 0; c < std::ssize(features); ++c) table.features(row, c) = features[c][row];
  }
  return table;
}

// An .npy file as columns without names.
Table table_from_npy(std::string_view bytes, const std::string& source, const TableOptions& options) {
  const Matrix matrix = internal::parse_npy(bytes, source);
  Columns columns{source, {}, {}, "row"};
  for (Index c = 0; c < matrix.cols(); ++c) {
    for (Index r = 0; r < matrix.rows(); ++r) {
      require(std::isfinite(matrix(r, c)), "{}: row {}, column {} (from 0): found {}; allowed: finite numbers", source,
              r, c, matrix(r, c));
    }
    const auto numbers = matrix.col(c);
    columns.content.columns.push_back({fmt::format("x{}", c), true, {numbers.begin(), numbers.end()}, {}});
  }
  columns.content.line_of_row.resize(matrix.rows());
  std::iota(columns.content.line_of_row.begin(), columns.content.line_of_row.end(), Index{0});
  columns.spelled = [&matrix](Index column) {
    std::vector<std::string> texts;
    for (const double number : matrix.col(column)) texts.push_back(fmt::format("{}", number));
    return texts;
  };
  return make_table(columns, options);
}

}  // namespace

Table table_from_csv(std::string_view text, const std::string& source, const TableOptions& options) {
  Columns columns{source, internal::parse_csv(text, source), {}, "line"};
  columns.spelled = [&](Index column) { return csv_column_texts(text, columns.content, column); };
  return make_table(columns, options);
}

Table read_table(const std::string& source, const TableOptions& options) {
  if (source.starts_with(kBuiltinPrefix)) return load_builtin(source.substr(kBuiltinPrefix.size()), options);
  const std::string content = internal::read_whole_file(source);
  const bool npy = internal::lower_case(source).ends_with(".npy") || content.starts_with(internal::kNpyMagic);
  return npy ? table_from_npy(content, source, options) : table_from_csv(content, source, options);
}

Table select_rows(const Table& table, const std::vector<Index>& rows) {
  for (const Index row : rows) {
    require(row >= 0 && row < table.features.rows(), "{}: row {} was asked for; allowed: 0 to {}", table.source, row,
            table.features.rows() - 1);
  }
  Table selection{table.source, table.features(rows, Eigen::all), table.feature_names, table.labels, {}, {}};
  if (table.labels) selection.labels->of_row = select_rows(table.labels->of_row, rows);
  if (table.pieces) selection.pieces = select_rows(*table.pieces, rows);
  if (!table.names.empty()) {
    for (const Index row : rows) selection.names.push_back(table.names[row]);
  }
  return selection;
}

std::vector<int> select_rows(const std::vector<int>& of_row, const std::vector<Index>& rows) {
  std::vector<int> selected(rows.size());
  std::ranges::transform(rows, selected.begin(), [&](Index row) { return of_row[row]; });
  return selected;
}

}  // namespace bregmax
