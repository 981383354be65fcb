#include "bregmax/supervision/files.hpp"

#include <algorithm>
#include <cmath>

#include "core/checks.hpp"
#include "core/text.hpp"
#include "data/csv.hpp"
#include "data/file.hpp"
#include "data/text.hpp"

namespace bregmax {

using internal::CsvColumn;

namespace {

constexpr std::string_view kWeight = "weight";

using ColumnNames = std::span<const std::string_view>;
constexpr std::string_view kComparisonColumns[] = {"i", "j", "k", "l"};
constexpr std::string_view kPairColumns[] = {"i", "j", "s"};
constexpr std::string_view kTargetColumns[] = {"i", "j", "value"};
constexpr std::pair<std::string_view, ColumnNames> kKinds[] = {
    {"comparisons", kComparisonColumns}, {"pairs", kPairColumns}, {"targets", kTargetColumns}};

bool is_ours(std::string_view name) {
  return name == kWeight ||
         std::ranges::any_of(kKinds, [name](const auto& kind) { return std::ranges::count(kind.second, name) > 0; });
}

// A file of numbers with the given columns and perhaps a weight after them.
class ItemFile {
 public:
  ItemFile(const std::string& path, ColumnNames names, Index rows)
      : path_(path), names_(names), rows_(rows), content_(internal::parse_csv(internal::read_whole_file(path), path)) {
    if (content_.has_header) {
      for (const CsvColumn& column : content_.columns) header_.push_back(internal::lower_case(column.name));
    }
    check_columns();
    for (std::size_t c = 0; c < content_.columns.size(); ++c) {
      const CsvColumn& column = content_.columns[c];
      if (column.numeric) continue;
      const Index item = column.first_text;
      fail(item, c, internal::quoted_excerpt(column.texts[item]), "a finite number");
    }
  }

  std::size_t items() const { return content_.line_of_row.size(); }
  double number(std::size_t item, std::size_t column) const { return content_.columns[column].numbers[item]; }

  double target(std::size_t item) const {
    const double value = number(item, 2);
    if (std::abs(value) > kLargestTarget) {
      fail(item, 2, fmt::format("{}", value), fmt::format("values of at most {} in size", kLargestTarget));
    }
    return value;
  }

  Index row_number(std::size_t item, std::size_t column) const {
    const double value = number(item, column);
    const bool allowed = value >= 0 && value < static_cast<double>(rows_) && value == std::floor(value);
    if (allowed) return static_cast<Index>(value);
    fail(item, column, fmt::format("{}", value), fmt::format("whole row numbers from 0 to {}", rows_ - 1));
  }

  double weight(std::size_t item) const {
    if (content_.columns.size() == names_.size()) return 1;
    const double value = number(item, names_.size());
    if (value < 0) fail(item, names_.size(), fmt::format("{}", value), "weights >= 0");
    return value;
  }

  [[noreturn]] void fail(std::size_t item, std::size_t column, std::string_view found, std::string_view allowed) const {
    internal::fail("{}: line {}, column {}: found {}; allowed: {}", path_, content_.line_of_row[item],
                   column < names_.size() ? names_[column] : kWeight, found, allowed);
  }

 private:
  // A header without any of our names is ignored. If it has one, all must match, or a column might be misread.
  void check_columns() const {
    const std::size_t found = content_.columns.size();
    const bool weighted = found == names_.size() + 1;
    if (found != names_.size() && !weighted) fail_columns(fmt::format("{} columns", found), "");
    if (!content_.has_header) return;
    std::vector<std::string> given = header_;
    if (weighted && given.back() != kWeight) fail_columns("the columns", ", in this order");
    given.resize(names_.size());
    if (std::ranges::any_of(given, is_ours) && !std::ranges::equal(given, names_)) {
      fail_columns("the columns", ", in this order");
    }
  }

  [[noreturn]] void fail_columns(const std::string& found, std::string_view how) const {
    std::string names;
    for (const CsvColumn& column : content_.columns) names += (names.empty() ? " " : ",") + column.name;
    std::string hint;
    for (const auto& [kind, columns] : kKinds) {
      std::vector<std::string> given = header_;
      if (!given.empty() && given.back() == kWeight) given.pop_back();
      if (std::ranges::equal(given, columns)) hint = fmt::format("; those are the columns of {}", kind);
    }
    internal::fail("{}: line {}: found {}{}; expected {} and perhaps {}{}{}", path_,
                   content_.has_header ? 1 : content_.line_of_row.front(), found,
                   header_.empty() ? "" : internal::excerpt(names), internal::joined(names_, ","), kWeight, how, hint);
  }

  const std::string& path_;
  ColumnNames names_;
  Index rows_;
  internal::CsvContent content_;
  std::vector<std::string> header_;  // in lower case; empty if the file has no header
};

// make(file, t) makes item t.
template <class Items, class Make>
Items read_items(const std::string& path, ColumnNames names, Index rows, const Make& make) {
  const ItemFile file(path, names, rows);
  Items items;
  items.reserve(file.items());
  for (std::size_t t = 0; t < file.items(); ++t) items.push_back(make(file, t));
  return items;
}

}  // namespace

Comparisons read_comparisons(const std::string& path, Index rows) {
  return read_items<Comparisons>(path, kComparisonColumns, rows, [](const ItemFile& file, std::size_t t) -> Comparison {
    return {file.row_number(t, 0), file.row_number(t, 1), file.row_number(t, 2), file.row_number(t, 3), file.weight(t)};
  });
}

Pairs read_pairs(const std::string& path, Index rows) {
  return read_items<Pairs>(path, kPairColumns, rows, [](const ItemFile& file, std::size_t t) -> Pair {
    const double s = file.number(t, 2);
    if (s != 0 && s != 1) file.fail(t, 2, fmt::format("{}", s), "1 (similar) or 0 (dissimilar)");
    return {file.row_number(t, 0), file.row_number(t, 1), s == 1, file.weight(t)};
  });
}

Targets read_targets(const std::string& path, Index rows) {
  return read_items<Targets>(path, kTargetColumns, rows, [](const ItemFile& file, std::size_t t) -> Target {
    return {file.row_number(t, 0), file.row_number(t, 1), file.target(t), file.weight(t)};
  });
}

}  // namespace bregmax
