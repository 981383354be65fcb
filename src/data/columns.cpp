#include "data/columns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "core/checks.hpp"
#include "core/text.hpp"
#include "data/text.hpp"

namespace bregmax::internal {
namespace {

// A first column that counts the rows by chance: with fewer rows we do not take it for their numbers.
constexpr Index kFewestToCount = 5;

// ---- The label column ----

[[noreturn]] void refuse_label(const Columns& columns, Index column, Index row, std::string_view why) {
  fail("{}: found {} {}; --label {} takes the column as the label all the same", columns.place(row, column),
       columns.field(row, column), why, excerpt(columns.name(column)));
}

// What is more likely spoilt numbers, dates or names than classes is not taken for them in silence.
void check_text_label(const Columns& columns, Index column) {
  const std::vector<std::string>& texts = columns.at(column).texts;
  const auto most = [&](auto is_such) { return 2 * std::ranges::count_if(texts, is_such) > std::ssize(texts); };
  const Index first = columns.at(column).first_text;
  if (const auto hint = hint_at_decimal_sign(columns, column)) {
    refuse_label(columns, column, first, fmt::format("where a number seems to be meant; {}", *hint));
  }
  if (most(is_number_like)) {
    refuse_label(columns, column, first, "in a column of mostly numbers; allowed: a finite number");
  }
  if (most(is_date_like)) {
    refuse_label(columns, column, first, "which looks like a date; --ignore leaves the column out");
  }
  const std::unordered_set<std::string_view> different(texts.begin(), texts.end());
  if (std::ssize(texts) >= kFewestToCount && different.size() == texts.size()) {
    refuse_label(columns, column, first,
                 "and another text in every row, so these are no classes; --id or --ignore names such a column");
  }
}

// A column of measurements that is named like labels. So many classes of so few rows are rarely meant.
void check_numeric_label(const Columns& columns, Index column) {
  constexpr std::size_t kManyClasses = 20;
  const CsvColumn& label = columns.at(column);
  std::unordered_set<double> values;
  for (const double number : label.numbers) {
    if (!std::isnan(number)) values.insert(number);
  }
  const bool whole = std::ranges::all_of(values, [](double value) { return value == std::floor(value); });
  if (values.size() <= kManyClasses || (whole && 10 * std::ssize(values) <= columns.rows())) return;
  fail(
      "{}: column {} is named like labels and holds {} different numbers in {} rows; --label {} takes them as classes, "
      "--target {} as a number for each row, --label none as a feature",
      columns.source, excerpt(label.name), values.size(), columns.rows(), excerpt(label.name), excerpt(label.name));
}

class RoleFinder {
 public:
  RoleFinder(const Columns& columns, const TableOptions& options)
      : columns_(columns), options_(options), used_(columns.count(), false) {}

  Roles find() {
    take_named_roles();
    find_label();
    if (columns_.content.header_counts) {
      note("the first line counts from 0 and is taken as a header; --header no reads it as a row");
    }
    options_.recipe.empty() ? find_features() : match_features();
    require(!roles_.features.empty(),
            "{}: no feature columns are left besides those with other roles; the columns, separated by {}s, are {}",
            columns_.source, delimiter_name(columns_.content.format.delimiter), columns_.list());
    return std::move(roles_);
  }

 private:
  void note(const std::string& text) { roles_.notes.push_back(fmt::format("{}: {}", columns_.source, text)); }
  void leave_out(Index column, std::string_view why) {
    roles_.left_out.push_back(fmt::format("{} ({})", excerpt(columns_.name(column)), why));
  }
  std::optional<Index> column_named(const std::string& name) const {
    for (Index c = 0; c < columns_.count(); ++c) {
      if (columns_.name(c) == name) return c;
    }
    return std::nullopt;
  }
  bool is_known_by_name() const { return columns_.content.has_header; }

  void take(Index column, const std::string& role) {
    require(!used_[column], "{}: column {} is named as both the {} and the {} column", columns_.source,
            excerpt(columns_.name(column)), role_of_[column], role);
    used_[column] = true;
    role_of_[column] = role;
  }
  std::optional<Index> take(const std::string& wanted, const std::string& role, const std::string& described) {
    if (wanted.empty()) return std::nullopt;
    const Index column = find_column(columns_, wanted, described);
    take(column, role);
    return column;
  }

  void take_named_roles() {
    if (options_.label != "auto" && options_.label != "none") {
      roles_.label = take(options_.label, "label", "the label column");
    }
    roles_.piece = take(options_.piece_column, "piece", "the piece column");
    roles_.id = take(options_.id, "id", "the column of --id");
    if (!options_.target_optional) roles_.target = take(options_.target, "target", "the column of --target");
    for (const std::string& name : options_.ignore) take(name, "ignored", "a column of --ignore");
    // What the recipe knows about columns holds unless an option says otherwise.
    const Recipe& recipe = options_.recipe;
    if (is_known_by_name() && !roles_.id && !recipe.id.empty()) {
      roles_.id = column_named(recipe.id);
      if (roles_.id) take(*roles_.id, "id");
    }
    if (roles_.piece) leave_out(*roles_.piece, "piece of each row");
    if (roles_.id) leave_out(*roles_.id, "names of rows");
    for (Index c = 0; c < columns_.count(); ++c) {
      if (role_of_.contains(c) && role_of_.at(c) == "ignored") leave_out(c, "--ignore");
    }
    for (const std::string& name : options_.features)
      chosen_.push_back(find_column(columns_, name, "a column of --features"));
    for (const Index column : chosen_) take(column, "feature");
    for (const std::string& name : recipe.columns()) {
      const auto column = is_known_by_name() ? column_named(name) : std::nullopt;
      if (column) needed_.push_back(*column);
    }
    if (!roles_.target) take_optional_target(options_.target.empty() ? recipe.target : options_.target);
  }

  // Rows for a model may have the column that it was learned from, and may have it empty.
  void take_optional_target(const std::string& name) {
    if (name.empty() || has_columns_by_order()) return;
    std::optional<Index> column = column_named(name);
    const auto number = number_in<Index>(name);
    if (!column && number && *number >= 0 && *number < columns_.count()) column = number;
    const bool is_feature = column && std::ranges::find(needed_, *column) != needed_.end();
    if (!column || used_[*column] || is_feature) return;
    take(*column, "target");
    const CsvColumn& numbers = columns_.at(*column);
    if (numbers.numeric && numbers.missing.empty() && !numbers.not_finite) {
      roles_.target = column;
    } else {
      leave_out(*column, "target of the model, not a number in every row");
    }
  }

  void find_label() {
    if (options_.label != "auto" || !options_.target.empty() || !options_.recipe.target.empty()) return;
    const std::string& learned = options_.recipe.label;
    if (is_known_by_name() && !learned.empty()) {
      roles_.label = column_named(learned);
    } else if (const auto last = last_free_column()) {
      const CsvColumn& column = columns_.at(*last);
      const bool named = columns_.content.has_header && is_label_name(column.name);
      // Without names, as many columns as the model has are all features.
      if (!named && (column.numeric || has_columns_by_order())) return;
      if (named && column.numeric) check_numeric_label(columns_, *last);
      if (!named) check_text_label(columns_, *last);
      roles_.label = last;
    }
    if (roles_.label) take(*roles_.label, "label");
  }
  std::optional<Index> last_free_column() const {
    const std::vector<std::string>& others = options_.recipe.others;
    for (Index c = columns_.count() - 1; c >= 0; --c) {
      const bool known = is_known_by_name() && std::ranges::find(others, columns_.name(c)) != others.end();
      if (!used_[c] && !known) return std::ranges::find(needed_, c) == needed_.end() ? std::optional(c) : std::nullopt;
    }
    return std::nullopt;
  }
  bool has_columns_by_order() const {
    return !options_.recipe.empty() && !is_known_by_name() &&
           std::ranges::count(used_, false) == std::ssize(options_.recipe.columns());
  }

  // Whether the first column is no measurement but the numbers of the rows, as spreadsheets and pandas write them.
  bool numbers_the_rows() const {
    const CsvColumn& first = columns_.at(0);
    if (used_[0] || !first.numeric || !first.missing.empty() || columns_.count() == 1) return false;
    const bool unnamed = columns_.content.has_header && !first.named;
    if (unnamed) {  // rows that were shuffled or left out keep their numbers
      const auto is_whole = [](double value) { return value >= 0 && value == std::floor(value); };
      const std::unordered_set<double> different(first.numbers.begin(), first.numbers.end());
      return std::ranges::all_of(first.numbers, is_whole) && different.size() == first.numbers.size();
    }
    if (columns_.rows() < kFewestToCount || (first.named && !is_index_name(first.name))) return false;
    return counts(first);
  }
  static bool counts(const CsvColumn& column) {
    const double start = column.numbers.front();
    if (start != 0 && start != 1) return false;
    for (std::size_t row = 0; row < column.numbers.size(); ++row) {
      if (column.numbers[row] != start + static_cast<double>(row)) return false;
    }
    return true;
  }
  static bool is_index_name(const std::string& name) {
    constexpr std::string_view kNames[] = {"id", "index", "row",    "row_id", "rowid",
                                           "no", "nr",    "number", "#",      "unnamed: 0"};
    return std::ranges::count(kNames, lower_case(trim_spaces(name))) > 0;
  }
  void leave_out_row_numbers() {
    used_[0] = true;
    leave_out(0, "numbers of the rows");
    note(fmt::format(
        "the first column{} numbers the rows and is left out; --features with its name or 0 makes it a feature",
        columns_.at(0).named ? ", " + excerpt(columns_.name(0)) + "," : ""));
  }

  void find_features() {
    if (!chosen_.empty()) {
      for (Index c = 0; c < columns_.count(); ++c) {
        if (!used_[c]) leave_out(c, "not in --features");
      }
      roles_.features = chosen_;
      std::ranges::sort(roles_.features);
      return;
    }
    if (numbers_the_rows()) {
      leave_out_row_numbers();
    } else if (!used_[0] && columns_.at(0).numeric && columns_.rows() >= kFewestToCount && columns_.count() > 1 &&
               columns_.at(0).missing.empty() && counts(columns_.at(0))) {
      note(fmt::format("the first column, {}, counts the rows and is kept as a feature; --ignore {} leaves it out",
                       excerpt(columns_.name(0)), excerpt(columns_.name(0))));
    }
    for (Index c = 0; c < columns_.count(); ++c) {
      if (!used_[c]) roles_.features.push_back(c);
    }
  }

  // The columns that the recipe names, in any order, or by their order where the file or the recipe has no names.
  void match_features() {
    const std::vector<std::string> wanted = options_.recipe.columns();
    const bool all_found = needed_.size() == wanted.size();
    if (!is_known_by_name() || (!options_.recipe.named && !all_found)) return match_by_order(wanted);
    for (const std::string& name : wanted) {
      const auto column = column_named(name);
      require(column.has_value(),
              "{}: there is no column {}, which is a feature of the model; it needs {}, and the file has {}",
              columns_.source, quoted_excerpt(name), shortened(wanted), columns_.list());
      require(!used_[*column] || role_of_.at(*column) == "feature",
              "{}: column {} is a feature of the model, and is named as the {} column here", columns_.source,
              excerpt(name), role_of_[*column]);
      used_[*column] = true;
      roles_.features.push_back(*column);
    }
    std::vector<std::string> extra;
    for (Index c = 0; c < columns_.count(); ++c) {
      if (used_[c]) continue;
      leave_out(c, "no feature of the model");
      if (std::ranges::find(options_.recipe.others, columns_.name(c)) == options_.recipe.others.end() &&
          columns_.name(c) != options_.recipe.label && columns_.name(c) != options_.recipe.target &&
          columns_.at(c).named) {
        extra.push_back(columns_.name(c));
      }
    }
    if (extra.empty()) return;
    note(fmt::format("{} {} no feature of the model and {} no effect", shortened(extra),
                     extra.size() == 1 ? "is" : "are", extra.size() == 1 ? "has" : "have"));
  }

  void match_by_order(const std::vector<std::string>& wanted) {
    const Index free = std::ranges::count(used_, false);
    if (free == std::ssize(wanted) + 1 && numbers_the_rows()) leave_out_row_numbers();
    for (Index c = 0; c < columns_.count(); ++c) {
      if (!used_[c]) roles_.features.push_back(c);
    }
    const std::size_t found = roles_.features.size();
    if (found == wanted.size()) return;
    std::vector<std::string> names;
    names.reserve(found);
    for (const Index c : roles_.features) names.push_back(columns_.name(c));
    fail(
        "{}: found {} features ({}); the model has {} ({}); --label, --id and --ignore name the columns that are not "
        "features",
        columns_.source, found, shortened(names), wanted.size(), shortened(wanted));
  }

  static std::string shortened(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 10;
    const std::vector<std::string> shown(names.begin(),
                                         names.begin() + static_cast<Index>(std::min(names.size(), kMost)));
    return excerpt_list(shown) + (names.size() > kMost ? ", ..." : "");
  }
  static std::string excerpt_list(const std::vector<std::string>& names) {
    return joined(names, ", ", [](const std::string& name) { return excerpt(name); });
  }

  const Columns& columns_;
  const TableOptions& options_;
  std::vector<bool> used_;
  std::map<Index, std::string> role_of_;  // of the columns that have one
  std::vector<Index> chosen_;             // by --features
  std::vector<Index> needed_;             // by the recipe
  Roles roles_;
};

}  // namespace

std::vector<Index> Columns::missing(Index column) const {
  if (at(column).numeric) return at(column).missing;
  std::vector<Index> rows;
  const std::vector<std::string>& texts = at(column).texts;
  for (Index row = 0; row < std::ssize(texts); ++row) {
    if (is_missing(texts[row])) rows.push_back(row);
  }
  return rows;
}

std::string Columns::field(Index row, Index column) const {
  const std::string text = texts(column)[row];
  return text.empty() ? "an empty field" : quoted_excerpt(text);
}

std::string Columns::place(Index row, Index column) const {
  return fmt::format("{}: {} {}, column {}", source, row_word, content.line_of_row[row], excerpt(name(column)));
}

std::string Columns::list() const {
  constexpr Index kMost = 20;
  std::string all;
  for (Index c = 0; c < std::min(count(), kMost); ++c) {
    all += fmt::format("{}{} ({})", c == 0 ? "" : ", ", excerpt(name(c)), c);
  }
  if (count() > kMost) all += fmt::format(", ... ({} columns in all)", count());
  return all;
}

Index find_column(const Columns& columns, const std::string& wanted, std::string_view role) {
  for (Index c = 0; c < columns.count(); ++c) {
    if (columns.name(c) == wanted) return c;
  }
  const auto number = number_in<Index>(wanted);
  if (number && *number >= 0 && *number < columns.count()) return *number;
  fail("{}: {} is {}, which is not a column; the columns and their numbers are {}", columns.source, role,
       quoted_excerpt(wanted), columns.list());
}

std::optional<std::string_view> hint_at_decimal_sign(const Columns& columns, Index column) {
  const bool comma = columns.content.format.decimal == ',';
  const auto reads = [comma](const std::string& text) {
    return is_missing(text) || (comma ? parse_number(text) : parse_number_with_comma(text)) || is_number_like(text);
  };
  if (!std::ranges::all_of(columns.at(column).texts, reads)) return std::nullopt;
  return comma ? "--decimal point reads decimal points" : "--decimal comma reads decimal commas";
}

Roles decide_roles(const Columns& columns, const TableOptions& options) { return RoleFinder(columns, options).find(); }

}  // namespace bregmax::internal
