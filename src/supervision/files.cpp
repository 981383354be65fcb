#include "bregmax/supervision/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "bregmax/core/error.hpp"
#include "bregmax/data/csv.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace {

constexpr std::string_view kWeight = "weight";

// A file of numbers with the given columns and perhaps a weight after them.
class ItemFile {
 public:
  ItemFile(const std::string& path, std::vector<std::string_view> names, Index rows)
      : path_(path), names_(std::move(names)), rows_(rows), content_(parse_csv(read_whole_file(path), path)) {
    check_columns();
    for (std::size_t c = 0; c < content_.columns.size(); ++c) {
      const CsvColumn& column = content_.columns[c];
      if (column.numeric) continue;
      const auto item = static_cast<std::size_t>(first_text_row(column));
      fail(item, c, internal::quoted_excerpt(column.texts[item]), "a finite number");
    }
  }

  std::size_t items() const { return content_.line_of_row.size(); }
  double number(std::size_t item, std::size_t column) const { return content_.columns[column].numbers[item]; }

  Index row_number(std::size_t item, std::size_t column) const {
    const double value = number(item, column);
    if (value >= 0 && value < static_cast<double>(rows_) && value == std::floor(value)) {
      return static_cast<Index>(value);
    }
    fail(item, column, fmt::format("{}", value), fmt::format("whole row numbers from 0 to {}", rows_ - 1));
  }

  double weight(std::size_t item) const {
    if (content_.columns.size() == names_.size()) return 1;
    const double value = number(item, names_.size());
    if (value < 0) fail(item, names_.size(), fmt::format("{}", value), "weights >= 0");
    return value;
  }

  [[noreturn]] void fail(std::size_t item, std::size_t column, std::string_view found, std::string_view allowed) const {
    throw Error(fmt::format("{}: line {}, column {}: found {}; allowed: {}", path_, content_.line_of_row[item],
                            column < names_.size() ? names_[column] : kWeight, found, allowed));
  }

 private:
  void check_columns() const {
    const std::size_t found = content_.columns.size();
    if (found != names_.size() && found != names_.size() + 1) {
      throw Error(fmt::format("{}: line {}: found {} columns; expected {} and perhaps {}", path_,
                              content_.line_of_row.front(), found, fmt::join(names_, ","), kWeight));
    }
    if (!content_.has_header) return;
    // Names other than ours say nothing, but ours in another place would be read wrongly.
    for (std::size_t c = 0; c < found; ++c) {
      const std::string& name = content_.columns[c].name;
      const std::string_view expected = c < names_.size() ? names_[c] : kWeight;
      const bool is_ours = name == kWeight || std::find(names_.begin(), names_.end(), name) != names_.end();
      if (name != expected && (is_ours || expected == kWeight)) {
        throw Error(fmt::format("{}: line 1: column {} (from 0) is named {}; expected {} and perhaps {}, in this order",
                                path_, c, internal::quoted_excerpt(name), fmt::join(names_, ","), kWeight));
      }
    }
  }

  const std::string& path_;
  std::vector<std::string_view> names_;
  Index rows_;
  CsvContent content_;
};

}  // namespace

Comparisons read_comparisons(const std::string& path, Index rows) {
  const ItemFile file(path, {"i", "j", "k", "l"}, rows);
  Comparisons comparisons;
  comparisons.reserve(file.items());
  for (std::size_t t = 0; t < file.items(); ++t) {
    comparisons.push_back(
        {file.row_number(t, 0), file.row_number(t, 1), file.row_number(t, 2), file.row_number(t, 3), file.weight(t)});
  }
  return comparisons;
}

Pairs read_pairs(const std::string& path, Index rows) {
  const ItemFile file(path, {"i", "j", "s"}, rows);
  Pairs pairs;
  pairs.reserve(file.items());
  for (std::size_t t = 0; t < file.items(); ++t) {
    const double s = file.number(t, 2);
    if (s != 0 && s != 1) file.fail(t, 2, fmt::format("{}", s), "1 (similar) or 0 (dissimilar)");
    pairs.push_back({file.row_number(t, 0), file.row_number(t, 1), s == 1, file.weight(t)});
  }
  return pairs;
}

Targets read_targets(const std::string& path, Index rows) {
  const ItemFile file(path, {"i", "j", "value"}, rows);
  Targets targets;
  targets.reserve(file.items());
  for (std::size_t t = 0; t < file.items(); ++t) {
    targets.push_back({file.row_number(t, 0), file.row_number(t, 1), file.number(t, 2), file.weight(t)});
  }
  return targets;
}

}  // namespace bregmax
