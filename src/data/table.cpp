#include "bregmax/data/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "bregmax/data/builtin.hpp"
#include "core/checks.hpp"
#include "core/text.hpp"
#include "data/columns.hpp"
#include "data/encoding.hpp"
#include "data/file.hpp"
#include "data/npy.hpp"
#include "data/recipe.hpp"
#include "data/text.hpp"

namespace bregmax {

using internal::Columns;
using internal::CsvColumn;
using internal::fail;
using internal::quoted_excerpt;
using internal::require;
using internal::Roles;

namespace {

constexpr std::string_view kBuiltinPrefix = "builtin:";

Labels make_labels(const Columns& columns, Index column, const std::vector<Index>& kept) {
  const std::vector<std::string> texts = columns.texts(column);
  Labels labels;
  labels.column = columns.name(column);
  std::unordered_map<std::string, int> class_of_name;
  for (const Index row : kept) {
    const auto [entry, fresh] = class_of_name.emplace(texts[row], labels.classes());
    if (fresh) labels.class_names.push_back(texts[row]);
    labels.of_row.push_back(entry->second);
  }
  return labels;
}

[[noreturn]] void refuse_value(const Columns& columns, Index row, Index column, std::string_view allowed) {
  fail("{}: found {}; allowed: {}", columns.place(row, column), columns.field(row, column), allowed);
}

void require_numbers(const Columns& columns, Index column, std::string_view allowed) {
  const CsvColumn& numbers = columns.at(column);
  if (!numbers.numeric) refuse_value(columns, numbers.first_text, column, allowed);
  if (numbers.not_finite) refuse_value(columns, *numbers.not_finite, column, allowed);
}

std::vector<int> make_pieces(const Columns& columns, Index column, const std::vector<Index>& kept) {
  constexpr std::string_view kAllowed = "whole numbers from 0, since it says the piece of each row";
  require_numbers(columns, column, kAllowed);
  std::vector<int> pieces;
  for (const Index row : kept) {
    const double number = columns.at(column).numbers[row];
    if (!(number >= 0) || number != std::floor(number) || number > std::numeric_limits<int>::max()) {
      refuse_value(columns, row, column, kAllowed);
    }
    pieces.push_back(static_cast<int>(number));
  }
  return pieces;
}

Vector make_target(const Columns& columns, Index column, const std::vector<Index>& kept) {
  require_numbers(columns, column, "a finite number, since it is the target");
  Vector target(std::ssize(kept));
  for (Index r = 0; r < target.size(); ++r) target(r) = columns.at(column).numbers[kept[r]];
  return target;
}

std::vector<std::string> make_names(const Columns& columns, Index column, const std::vector<Index>& kept) {
  const std::vector<std::string> texts = columns.texts(column);
  std::vector<std::string> names;
  std::unordered_map<std::string_view, Index> row_of_name;
  for (const Index row : kept) {
    if (texts[row].empty()) refuse_value(columns, row, column, "a name for each row, since --id names the column");
    const auto [same, fresh] = row_of_name.emplace(texts[row], row);
    if (!fresh) {
      fail("{}: found {}, which {} {} has, too; allowed: a different name for each row, since --id names the column",
           columns.place(row, column), quoted_excerpt(texts[row]), columns.row_word,
           columns.content.line_of_row[same->second]);
    }
    names.push_back(texts[row]);
  }
  return names;
}

// The rows that are kept. Under kRefuse a missing value is an Error; under kMean it is one where no mean helps.
std::vector<Index> kept_rows(const Columns& columns, const Roles& roles, MissingValues missing) {
  std::vector<bool> kept(columns.rows(), true);
  const auto look_at = [&](Index column, bool has_mean, std::string_view kind) {
    std::vector<Index> rows = columns.missing(column);
    if (column == roles.label && missing == MissingValues::kRefuse && !rows.empty()) {
      // "NA" may be a class; nobody says that there are missing values.
      const std::vector<std::string> texts = columns.texts(column);
      std::erase_if(rows, [&](Index row) { return !texts[row].empty(); });
    }
    if (missing == MissingValues::kDrop) {
      for (const Index row : rows) kept[row] = false;
    } else if (!rows.empty() && !(missing == MissingValues::kMean && has_mean)) {
      fail("{}: found {}, a missing value; allowed: {}; {}--missing drop leaves such rows out",
           columns.place(rows.front(), column), columns.field(rows.front(), column), kind,
           has_mean ? "--missing mean takes the mean of the column instead, " : "");
    }
  };
  for (const Index column : roles.features)
    look_at(column, true, columns.at(column).numeric ? "a finite number" : "a text");
  if (roles.label) look_at(*roles.label, false, "a label");
  if (roles.target) look_at(*roles.target, false, "a finite number");
  std::vector<Index> rows;
  for (Index row = 0; row < columns.rows(); ++row) {
    if (kept[row]) rows.push_back(row);
  }
  require(!rows.empty(), "{}: every row has a missing value, so --missing drop leaves none", columns.source);
  return rows;
}

std::string note_of_dropped(const Columns& columns, const std::vector<Index>& kept) {
  constexpr std::size_t kNamed = 5;
  std::vector<Index> lines;
  for (Index row = 0; row < columns.rows(); ++row) {
    if (!std::ranges::binary_search(kept, row)) lines.push_back(columns.content.line_of_row[row]);
  }
  const std::vector<Index> named(lines.begin(), lines.begin() + static_cast<Index>(std::min(kNamed, lines.size())));
  return fmt::format("{}: {} of {} rows have missing values and are left out ({} {}{})", columns.source, lines.size(),
                     columns.rows(), columns.row_word, internal::joined(named, ", "),
                     lines.size() > kNamed ? ", ..." : "");
}

std::string note_of_filled(const Columns& columns, const Roles& roles) {
  Index filled = 0;
  for (const Index column : roles.features) filled += std::ssize(columns.missing(column));
  if (filled == 0) return "";
  return fmt::format("{}: {} missing value{} replaced by the mean of the feature", columns.source, filled,
                     filled == 1 ? " is" : "s are");
}

// A value so large that all others of its feature are the same next to it: standardised they hardly differ.
void note_flattened(const Columns& columns, const Roles& roles, const std::vector<Index>& kept, Table& table) {
  constexpr double kBand = 1e-4, kShare = 0.9;
  constexpr std::size_t kMostNotes = 3;
  std::size_t notes = 0;
  for (const Index c : roles.features) {
    if (!columns.at(c).numeric) continue;
    std::vector<double> sample;
    const std::vector<double>& numbers = columns.at(c).numbers;
    for (std::size_t s = 0; s < kept.size(); s += 1 + kept.size() / 100) sample.push_back(numbers[kept[s]]);
    std::erase_if(sample, [](double value) { return std::isnan(value); });
    if (sample.empty()) continue;
    std::ranges::nth_element(sample, sample.begin() + std::ssize(sample) / 2);
    const double typical = sample[sample.size() / 2];
    Index farthest = kept.front(), near = 0;
    const auto distance = [&](Index row) {
      return std::isnan(numbers[row]) ? 0 : std::abs(numbers[row] / 2 - typical / 2);
    };
    for (const Index row : kept) farthest = distance(row) > distance(farthest) ? row : farthest;
    bool differ = false;
    for (const Index row : kept) {
      const bool is_near = distance(row) <= kBand * distance(farthest);
      near += is_near ? 1 : 0;
      differ = differ || (is_near && distance(row) > 0);
    }
    if (!differ || static_cast<double>(near) < kShare * static_cast<double>(kept.size()) || ++notes > kMostNotes)
      continue;
    table.notes.push_back(fmt::format(
        "{}: found {}, next to which the feature hardly differs in {} of {} rows; correct it, or --ignore {}",
        columns.place(farthest, c), columns.field(farthest, c), near, kept.size(), internal::excerpt(columns.name(c))));
  }
}

Table make_table(const Columns& columns, const TableOptions& options, std::vector<std::string> notes) {
  Roles roles = internal::decide_roles(columns, options);
  for (const Index column : roles.features) {
    if (columns.at(column).not_finite) refuse_value(columns, *columns.at(column).not_finite, column, "a finite number");
  }
  const bool learns = options.recipe.empty();
  const MissingValues missing = options.missing.value_or(options.recipe.missing);
  const std::vector<Index> kept = kept_rows(columns, roles, missing);
  Table table;
  table.source = columns.source;
  table.recipe = learns ? make_recipe(columns, roles, kept, options) : options.recipe;
  table.features = apply_recipe(columns, roles.features, kept, table.recipe);
  table.feature_names = internal::feature_names_of(table.recipe);
  table.dropped_rows = columns.rows() - std::ssize(kept);
  table.left_out = std::move(roles.left_out);
  if (roles.label) table.labels = make_labels(columns, *roles.label, kept);
  if (roles.piece) table.pieces = make_pieces(columns, *roles.piece, kept);
  if (roles.id) table.names = make_names(columns, *roles.id, kept);
  if (roles.target) table.target = make_target(columns, *roles.target, kept);
  table.notes = std::move(notes);
  table.notes.insert(table.notes.end(), roles.notes.begin(), roles.notes.end());
  if (table.dropped_rows > 0) table.notes.push_back(note_of_dropped(columns, kept));
  const std::string filled = missing == MissingValues::kMean ? note_of_filled(columns, roles) : "";
  if (!filled.empty()) table.notes.push_back(filled);
  if (learns) note_flattened(columns, roles, kept, table);
  return table;
}

// An .npy file as columns without names.
Table table_from_npy(std::string_view bytes, const std::string& source, const TableOptions& options) {
  const Matrix matrix = internal::parse_npy(bytes, source);
  Columns columns{source, {}, {}, "row"};
  for (Index c = 0; c < matrix.cols(); ++c) {
    CsvColumn column;
    column.name = fmt::format("x{}", c);
    column.numbers.assign(matrix.col(c).begin(), matrix.col(c).end());
    for (Index r = 0; r < matrix.rows(); ++r) {
      if (std::isnan(matrix(r, c))) column.missing.push_back(r);
      if (std::isinf(matrix(r, c)) && !column.not_finite) column.not_finite = r;
    }
    columns.content.columns.push_back(std::move(column));
  }
  columns.content.line_of_row.resize(matrix.rows());
  std::iota(columns.content.line_of_row.begin(), columns.content.line_of_row.end(), Index{0});
  columns.spelled = [&matrix](Index column) {
    std::vector<std::string> texts;
    for (const double number : matrix.col(column)) texts.push_back(fmt::format("{}", number));
    return texts;
  };
  return make_table(columns, options, {});
}

void check_options(const TableOptions& options) {
  require(options.delimiter != options.decimal && options.delimiter != '"' && options.delimiter != '\n',
          "the delimiter is {}; allowed: a character that is neither the decimal sign nor a quote",
          internal::delimiter_name(options.delimiter));
}

}  // namespace

Table table_from_csv(std::string_view text, const std::string& source, const TableOptions& options) {
  check_options(options);
  std::vector<std::string> notes;
  const bool binary = text.find('\0') != std::string_view::npos;  // refused when it is parsed
  const std::optional<std::string> converted = binary ? std::nullopt : internal::converted_to_utf8(text, source, notes);
  if (converted) text = *converted;
  const internal::CsvFormat format{options.delimiter, options.decimal, options.header, true};
  Columns columns{source, internal::parse_csv(text, source, format), {}, "line"};
  columns.spelled = [&](Index column) { return csv_column_texts(text, columns.content, column); };
  return make_table(columns, options, std::move(notes));
}

Table read_table(const std::string& source, const TableOptions& options) {
  if (source.starts_with(kBuiltinPrefix)) return load_builtin(source.substr(kBuiltinPrefix.size()), options);
  const std::string content = internal::read_whole_file(source);
  const bool npy = internal::lower_case(internal::unpacked_name(source)).ends_with(".npy") ||
                   content.starts_with(internal::kNpyMagic);
  const std::string name = source == "-" ? "standard input" : source;
  return npy ? table_from_npy(content, name, options) : table_from_csv(content, name, options);
}

Table select_rows(const Table& table, const std::vector<Index>& rows) {
  for (const Index row : rows) {
    require(row >= 0 && row < table.features.rows(), "{}: row {} was asked for; allowed: 0 to {}", table.source, row,
            table.features.rows() - 1);
  }
  Table selection = table;
  selection.features = table.features(rows, Eigen::all);
  if (table.labels) selection.labels->of_row = select_rows(table.labels->of_row, rows);
  if (table.pieces) selection.pieces = select_rows(*table.pieces, rows);
  if (table.target) selection.target = (*table.target)(rows);
  selection.names.clear();
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
