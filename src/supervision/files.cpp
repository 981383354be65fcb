#include "bregmax/supervision/files.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "core/checks.hpp"
#include "core/edit_distance.hpp"
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
constexpr std::string_view kTripletColumns[] = {"anchor", "near", "far"};
constexpr std::string_view kPairColumns[] = {"i", "j", "s"};
constexpr std::string_view kTargetColumns[] = {"i", "j", "value"};

// The columns of a kind of supervision; the first few say rows.
struct Kind {
  std::string_view name;
  ColumnNames columns;
  std::size_t row_columns;
};
constexpr Kind kComparisonKind{"comparisons", kComparisonColumns, 4};
constexpr Kind kTripletKind{"triplets", kTripletColumns, 3};
constexpr Kind kPairKind{"pairs", kPairColumns, 2};
constexpr Kind kTargetKind{"targets", kTargetColumns, 2};
constexpr const Kind* kKinds[] = {&kComparisonKind, &kTripletKind, &kPairKind, &kTargetKind};

bool has_column(const Kind& kind, std::string_view name) { return std::ranges::count(kind.columns, name) > 0; }

bool is_ours(std::string_view name) {
  return name == kWeight || std::ranges::any_of(kKinds, [name](const Kind* kind) { return has_column(*kind, name); });
}

// Triplets are where comparisons are expected: three columns, or four of which the last is named as the weight.
Kind kind_of(const Kind& expected, std::size_t columns, const std::vector<std::string>& header) {
  if (&expected != &kComparisonKind) return expected;
  const bool weighted = !header.empty() && header.back() == kWeight;
  const bool others = std::ranges::any_of(header, [](const std::string& name) {
    return name != kWeight && is_ours(name) && !has_column(kTripletKind, name);
  });
  return !others && columns == (weighted ? 4U : 3U) ? kTripletKind : kComparisonKind;
}

// The rows and numbers of a file.
class ItemFile {
 public:
  ItemFile(const std::string& path, const Kind& expected, const RowNames& rows, const RunControl& control)
      : path_(path), given_(rows), control_(control) {
    read();
    kind_ = kind_of(expected, content_.columns.size(), header_);
    check_columns();
    if (given_.names.empty()) {
      check_numbers();
    } else {
      look_for_names();
    }
    if (!by_name_) remark_on_first_row();
  }

  bool has_triplets() const { return kind_.name == kTripletKind.name; }
  std::size_t items() const { return content_.line_of_row.size() - skipped_; }

  double number(std::size_t item, std::size_t column) const {
    if (texts_.empty()) return content_.columns[column].numbers[item];
    const std::string& text = texts_[column][item + skipped_];
    const std::optional<double> value = internal::parse_number(text);
    if (!value || !std::isfinite(*value)) fail(item, column, internal::quoted_excerpt(text), "a finite number");
    return *value;
  }

  Index row(std::size_t item, std::size_t column) const {
    if (by_name_) return row_of_.at(texts_[column][item + skipped_]);
    const double value = number(item, column);
    if (is_row_number(value, first_row())) return static_cast<Index>(value) - first_row();
    std::string allowed = fmt::format("whole row numbers from {} to {}", first_row(), given_.rows - 1 + first_row());
    if (first_row() == 0 && counts_from_one()) allowed += "; all would fit with --first-row 1, which counts from 1";
    if (first_row() == 1 && value == 0) allowed += ", since --first-row 1 counts from 1";
    fail(item, column, fmt::format("{}", value), allowed + (value == std::floor(value) ? "" : hint_at_weights(column)));
  }

  double target(std::size_t item) const {
    const double value = number(item, 2);
    if (std::abs(value) > kLargestTarget) {
      fail(item, 2, fmt::format("{}", value), fmt::format("values of at most {} in size", kLargestTarget));
    }
    return value;
  }

  double weight(std::size_t item) const {
    if (!is_weighted()) return 1;
    const double value = number(item, kind_.columns.size());
    if (value < 0) fail(item, kind_.columns.size(), fmt::format("{}", value), "weights >= 0");
    return value;
  }

  [[noreturn]] void fail(std::size_t item, std::size_t column, std::string_view found, std::string_view allowed) const {
    internal::fail("{}: line {}, column {}: found {}; allowed: {}", path_, content_.line_of_row[item + skipped_],
                   column < kind_.columns.size() ? kind_.columns[column] : kWeight, found, allowed);
  }

 private:
  bool is_weighted() const { return content_.columns.size() == kind_.columns.size() + 1; }
  Index first_row() const { return given_.first_row.value_or(0); }
  std::string note(std::string_view text) const { return fmt::format("note: {}: {}", path_, text); }

  // ---- Reading ----

  // Where rows have names, all fields are kept as texts.
  void read() {
    const std::string text = internal::read_whole_file(path_);
    if (given_.names.empty()) {
      content_ = internal::parse_csv(text, path_);
      if (!content_.has_header) return;
      for (const CsvColumn& column : content_.columns) header_.push_back(internal::lower_case(column.name));
      header_line_ = 1;
      return;
    }
    content_ = internal::parse_csv(text, path_, {.header = HeaderLine::kNo});
    for (std::size_t c = 0; c < content_.columns.size(); ++c) {
      CsvColumn& column = content_.columns[c];
      texts_.push_back(column.numeric ? csv_column_texts(text, content_, static_cast<Index>(c))
                                      : std::move(column.texts));
    }
    for (Index row = 0; row < std::ssize(given_.names); ++row) row_of_.emplace(given_.names[row], row);
    look_for_header();
  }

  bool is_name(const std::string& text) const { return row_of_.contains(text); }

  // The first line of a file whose fields may be names. Names of columns that are ours come first.
  void look_for_header() {
    std::vector<std::string> first;
    first.reserve(texts_.size());
    for (const std::vector<std::string>& column : texts_) first.push_back(column.front());
    const bool numbers = std::ranges::any_of(first, internal::is_number_like);
    const auto named = std::ranges::count_if(first, [this](const std::string& text) { return is_name(text); });
    for (const std::string& text : first) header_.push_back(internal::lower_case(text));
    const bool ours = std::ranges::all_of(header_, is_ours);
    if (!ours && (numbers || named > 0)) {
      header_.clear();
      return;
    }
    skipped_ = 1;
    header_line_ = content_.line_of_row.front();
    internal::require(items() > 0, "{}: found a header line and no rows; expected at least one row", path_);
    if (ours && named == 0) return;
    control_.log(note(fmt::format("line {} ({}) is taken as the header", header_line_,
                                  internal::excerpt(internal::joined(first, ",")))));
  }

  // Without names of rows every field is a number.
  void check_numbers() const {
    for (std::size_t c = 0; c < content_.columns.size(); ++c) {
      const CsvColumn& column = content_.columns[c];
      if (column.numeric) continue;
      const Index item = column.first_text;
      fail(item, c, internal::quoted_excerpt(column.texts[item]),
           c < kind_.row_columns ? "a row number; names of rows need --id, which says the column of the data with them"
                                 : "a finite number");
    }
  }

  // Are the items given by names or by numbers?
  void look_for_names() {
    std::size_t named = 0, first_item = items(), first_column = 0;  // the first that is not a name
    for (std::size_t item = 0; item < items(); ++item) {
      for (std::size_t c = 0; c < kind_.row_columns; ++c) {
        if (is_name(texts_[c][item + skipped_])) {
          ++named;
        } else if (first_item == items()) {
          first_item = item;
          first_column = c;
        }
      }
    }
    by_name_ = first_item == items();
    if (by_name_) return;
    if (named == 0 && has_numbers_only()) {
      control_.log(note("none of its items is the name of a row, so that they are read as row numbers"));
      return;
    }
    const std::string& text = texts_[first_column][first_item + skipped_];
    fail(first_item, first_column, internal::quoted_excerpt(text),
         fmt::format("names of rows{}{}", hint_at_name(text),
                     internal::is_number_like(text) ? hint_at_weights(first_column) : ""));
  }

  bool has_numbers_only() const {
    for (std::size_t c = 0; c < kind_.row_columns; ++c) {
      const auto first = texts_[c].begin() + static_cast<std::ptrdiff_t>(skipped_);
      if (!std::all_of(first, texts_[c].end(), internal::is_number_like)) return false;
    }
    return true;
  }

  // ---- Messages ----

  bool is_row_number(double value, Index first) const {
    return value >= static_cast<double>(first) && value < static_cast<double>(given_.rows + first) &&
           value == std::floor(value);
  }

  template <class Holds>
  bool holds_for_all_numbers(const Holds& holds) const {
    for (std::size_t item = 0; item < items(); ++item) {
      for (std::size_t c = 0; c < kind_.row_columns; ++c) {
        if (!holds(number(item, c))) return false;
      }
    }
    return true;
  }
  bool counts_from_one() const {
    return holds_for_all_numbers([this](double value) { return is_row_number(value, 1); });
  }

  void remark_on_first_row() const {
    if (given_.first_row || !holds_for_all_numbers([](double value) { return value != 0; })) return;
    if (!holds_for_all_numbers([this](double value) { return is_row_number(value, 0); })) return;  // row() refuses it
    control_.log(note(
        "no item names row 0; rows are counted from 0 (--first-row 1 counts from 1, --first-row 0 says that this is "
        "right)"));
  }

  // Names that differ by three letters are other names.
  std::string hint_at_name(const std::string& text) const {
    const std::string wanted = internal::lower_case(text);
    std::size_t fewest = std::min<std::size_t>(3, wanted.size());
    std::string_view nearest;
    for (const std::string& name : given_.names) {
      const std::size_t edits = internal::edit_distance(wanted, internal::lower_case(name));
      if (edits >= fewest) continue;
      fewest = edits;
      nearest = name;
    }
    return nearest.empty() ? "" : fmt::format("; did you mean {}?", internal::quoted_excerpt(nearest));
  }

  // The fourth column of triplets, perhaps.
  std::string hint_at_weights(std::size_t column) const {
    const bool fourth = kind_.name == kComparisonKind.name && column == 3 && !is_weighted();
    return fourth ? "; weights of triplets need the header anchor,near,far,weight" : "";
  }

  // A header without any of our names is ignored. If it has one, all must match, or a column might be misread.
  void check_columns() const {
    const std::size_t found = content_.columns.size();
    if (found != kind_.columns.size() && !is_weighted()) fail_columns(fmt::format("{} columns", found), "");
    if (header_.empty()) return;
    std::vector<std::string> given = header_;
    if (is_weighted() && given.back() != kWeight) fail_columns("the columns", ", in this order");
    given.resize(kind_.columns.size());
    // "anchor,near,again,far" are other names of i,j,k,l.
    const auto counts = [this](const std::string& name) {
      return is_ours(name) && (kind_.name != kComparisonKind.name || !has_column(kTripletKind, name));
    };
    if (std::ranges::any_of(given, counts) && !std::ranges::equal(given, kind_.columns)) {
      fail_columns("the columns", ", in this order");
    }
  }

  [[noreturn]] void fail_columns(const std::string& found, std::string_view how) const {
    std::string hint;
    for (const Kind* kind : kKinds) {
      std::vector<std::string> given = header_;
      if (!given.empty() && given.back() == kWeight) given.pop_back();
      if (std::ranges::equal(given, kind->columns)) hint = fmt::format("; those are the columns of {}", kind->name);
    }
    if (kind_.name == kComparisonKind.name) {
      hint += fmt::format("; triplets are {}", internal::joined(kTripletColumns, ","));
    }
    std::string names;
    for (std::size_t c = 0; c < content_.columns.size(); ++c) {
      names += (c == 0 ? " " : ",") + (texts_.empty() ? content_.columns[c].name : texts_[c].front());
    }
    internal::fail("{}: line {}: found {}{}; expected {} and perhaps {}{}{}", path_,
                   header_.empty() ? content_.line_of_row.front() : header_line_, found,
                   header_.empty() ? "" : internal::excerpt(names), internal::joined(kind_.columns, ","), kWeight, how,
                   hint);
  }

  const std::string& path_;
  const RowNames& given_;
  const RunControl& control_;
  Kind kind_ = kComparisonKind;
  internal::CsvContent content_;
  std::vector<std::vector<std::string>> texts_;  // by column, with the header; empty where rows have no names
  std::unordered_map<std::string, Index> row_of_;
  std::vector<std::string> header_;  // in lower case; empty if the file has no header
  Index header_line_ = 1;
  std::size_t skipped_ = 0;  // lines of texts_ before the first item
  bool by_name_ = false;
};

// make(file, t) makes item t.
template <class Items, class Make>
Items read_items(const ItemFile& file, const Make& make) {
  Items items;
  items.reserve(file.items());
  for (std::size_t t = 0; t < file.items(); ++t) items.push_back(make(file, t));
  return items;
}

}  // namespace

Comparisons read_comparisons(const std::string& path, const RowNames& rows, const RunControl& control) {
  const ItemFile all(path, kComparisonKind, rows, control);
  return read_items<Comparisons>(all, [](const ItemFile& file, std::size_t t) -> Comparison {
    const Index i = file.row(t, 0), j = file.row(t, 1), k = file.has_triplets() ? i : file.row(t, 2);
    return {i, j, k, file.row(t, file.has_triplets() ? 2 : 3), file.weight(t)};
  });
}

Pairs read_pairs(const std::string& path, const RowNames& rows, const RunControl& control) {
  const ItemFile all(path, kPairKind, rows, control);
  return read_items<Pairs>(all, [](const ItemFile& file, std::size_t t) -> Pair {
    const double s = file.number(t, 2);
    if (s != 0 && s != 1) file.fail(t, 2, fmt::format("{}", s), "1 (similar) or 0 (dissimilar)");
    return {file.row(t, 0), file.row(t, 1), s == 1, file.weight(t)};
  });
}

Targets read_targets(const std::string& path, const RowNames& rows, const RunControl& control) {
  const ItemFile all(path, kTargetKind, rows, control);
  return read_items<Targets>(all, [](const ItemFile& file, std::size_t t) -> Target {
    return {file.row(t, 0), file.row(t, 1), file.target(t), file.weight(t)};
  });
}

}  // namespace bregmax
