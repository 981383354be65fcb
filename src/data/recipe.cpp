#include "data/recipe.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/checks.hpp"
#include "core/text.hpp"
#include "data/text.hpp"

namespace bregmax {
namespace internal {
namespace {

constexpr std::size_t kFewCategories = 10, kMostCategories = 1000;

[[noreturn]] void refuse_text(const Columns& columns, Index column, const TableOptions& options) {
  const Index row = columns.at(column).first_text;
  const std::vector<std::string>& texts = columns.at(column).texts;
  const auto most = [&](auto is_such) { return 2 * std::ranges::count_if(texts, is_such) > std::ssize(texts); };
  const std::string name = excerpt(columns.name(column));
  std::string help = fmt::format("--ignore {} leaves the column out", name);
  if (const auto hint = hint_at_decimal_sign(columns, column)) {
    help = *hint;
  } else if (is_date_like(texts[row])) {
    help += ", since dates are no numbers";
  } else if (!most(is_number_like)) {
    help += fmt::format(", --id {} takes it as names of the rows{}", name,
                        options.categories == TextCategories::kRefuse ? ", --categories one-hot as categories" : "");
  }
  fail("{}: found {}; allowed: a finite number, since it is a feature; {}", columns.place(row, column),
       quoted_excerpt(texts[row]), help);
}

// The texts of the column, in the order of their first appearance.
std::vector<std::string> categories_of(const Columns& columns, Index column, const std::vector<Index>& kept,
                                       const TableOptions& options) {
  const std::vector<std::string>& texts = columns.at(column).texts;
  const auto is_no_category = [](const std::string& text) { return is_number_like(text) || is_date_like(text); };
  if (2 * std::ranges::count_if(texts, is_no_category) > std::ssize(texts)) refuse_text(columns, column, options);
  std::vector<std::string> categories;
  std::unordered_set<std::string_view> seen;
  for (const Index row : kept) {
    if (!is_missing(texts[row]) && seen.insert(texts[row]).second) categories.push_back(texts[row]);
  }
  const bool too_many = categories.size() > kMostCategories ||
                        (categories.size() > kFewCategories && 2 * categories.size() > kept.size());
  require(
      !too_many,
      "{}: column {} has {} different texts in {} rows, too many for categories; --ignore {} leaves it out, --id {} "
      "takes it as names of the rows",
      columns.source, excerpt(columns.name(column)), categories.size(), kept.size(), excerpt(columns.name(column)),
      excerpt(columns.name(column)));
  return categories;
}

// The mean of what is not missing.
double mean_of(const std::vector<double>& numbers, const std::vector<Index>& kept) {
  double sum = 0, count = 0;
  for (const Index row : kept) {
    if (std::isnan(numbers[row])) continue;
    ++count;
    sum += numbers[row];
  }
  if (std::isfinite(sum)) return sum / count;
  double mean = 0;
  for (const Index row : kept) {
    if (!std::isnan(numbers[row])) mean += numbers[row] / count;
  }
  return mean;
}

// A column of numbers, or of the numbers of categories in a recipe; NaN where the value is missing.
std::vector<double> category_numbers(const Columns& columns, Index column, const std::vector<Index>& kept,
                                     const std::vector<std::string>& categories) {
  std::unordered_map<std::string_view, double> number_of;
  for (const std::string& category : categories) number_of.emplace(category, static_cast<double>(number_of.size()));
  const std::vector<std::string> texts = columns.texts(column);
  std::vector<double> numbers(texts.size(), NAN);
  for (const Index row : kept) {
    if (is_missing(texts[row])) continue;
    const auto known = number_of.find(texts[row]);
    if (known == number_of.end()) {
      fail("{}: found {}, which the model has not seen; allowed: the categories {}", columns.place(row, column),
           quoted_excerpt(texts[row]), excerpt(joined(categories, ", ")));
    }
    numbers[row] = known->second;
  }
  return numbers;
}

// A column and the features that are made of it, which follow each other.
struct ColumnOfRecipe {
  Index column, begin, end;
  bool is_number(const Recipe& recipe) const { return !recipe.features[begin].category; }
};

std::vector<ColumnOfRecipe> columns_with_features(const std::vector<Index>& columns, const Recipe& recipe) {
  std::vector<ColumnOfRecipe> all;
  Index begin = 0;
  for (const Index column : columns) {
    Index end = begin + 1;
    while (end < std::ssize(recipe.features) && recipe.features[end].column == recipe.features[begin].column) ++end;
    all.push_back({column, begin, end});
    begin = end;
  }
  return all;
}

}  // namespace

Recipe make_recipe(const Columns& columns, const Roles& roles, const std::vector<Index>& kept,
                   const TableOptions& options) {
  Recipe recipe;
  recipe.named = columns.content.has_header;
  recipe.missing = options.missing.value_or(MissingValues::kRefuse);
  if (roles.label) recipe.label = columns.name(*roles.label);
  if (roles.id) recipe.id = columns.name(*roles.id);
  if (roles.target) recipe.target = columns.name(*roles.target);
  std::vector<bool> is_feature(columns.count(), false);
  for (const Index column : roles.features) {
    is_feature[column] = true;
    const std::string& name = columns.name(column);
    if (columns.at(column).numeric) {
      require(std::ssize(columns.at(column).missing) < columns.rows(),
              "{}: every value of column {} is missing; --ignore {} leaves it out", columns.source, excerpt(name),
              excerpt(name));
      recipe.features.push_back({name, std::nullopt, mean_of(columns.at(column).numbers, kept)});
      continue;
    }
    if (options.categories == TextCategories::kRefuse) refuse_text(columns, column, options);
    const std::vector<std::string> categories = categories_of(columns, column, kept, options);
    std::vector<double> shares(categories.size(), 0);
    double known = 0;
    for (const double number : category_numbers(columns, column, kept, categories)) {
      if (std::isnan(number)) continue;
      ++shares[static_cast<std::size_t>(number)];
      ++known;
    }
    for (std::size_t c = 0; c < categories.size(); ++c) {
      recipe.features.push_back({name, categories[c], shares[c] / known});
    }
  }
  for (Index c = 0; c < columns.count(); ++c) {
    if (!is_feature[c] && c != roles.label && c != roles.id && c != roles.target)
      recipe.others.push_back(columns.name(c));
  }
  return recipe;
}

Matrix apply_recipe(const Columns& columns, const std::vector<Index>& features, const std::vector<Index>& kept,
                    const Recipe& recipe) {
  Matrix matrix(std::ssize(kept), std::ssize(recipe.features));
  for (const ColumnOfRecipe& made : columns_with_features(features, recipe)) {
    const CsvColumn& column = columns.at(made.column);
    std::vector<std::string> categories;
    if (made.is_number(recipe)) {
      if (!column.numeric) refuse_text(columns, made.column, {});
    } else {
      for (Index f = made.begin; f < made.end; ++f) categories.push_back(*recipe.features[f].category);
    }
    const std::vector<double> codes =
        categories.empty() ? std::vector<double>() : category_numbers(columns, made.column, kept, categories);
    const std::vector<double>& numbers = categories.empty() ? column.numbers : codes;
    for (Index r = 0; r < std::ssize(kept); ++r) {
      const double number = numbers[kept[r]];
      for (Index f = made.begin; f < made.end; ++f) {
        double& value = matrix(r, f);
        value = std::isnan(number)   ? recipe.features[f].fill
                : categories.empty() ? number
                                     : static_cast<double>(number == static_cast<double>(f - made.begin));
      }
      if (!std::isnan(matrix(r, made.begin))) continue;
      fail("{}: found {}, a missing value, and the model does not know the mean of the feature",
           columns.place(kept[r], made.column), columns.field(kept[r], made.column));
    }
  }
  return matrix;
}

std::vector<std::string> feature_names_of(const Recipe& recipe) {
  std::vector<std::string> names;
  names.reserve(recipe.features.size());
  for (const FeatureSource& feature : recipe.features) {
    names.push_back(feature.category ? feature.column + "=" + *feature.category : feature.column);
  }
  return names;
}

}  // namespace internal

std::string to_string(MissingValues missing) {
  switch (missing) {
    case MissingValues::kRefuse:
      return "refuse";
    case MissingValues::kMean:
      return "mean";
    case MissingValues::kDrop:
      return "drop";
  }
  return "";
}

std::vector<std::string> Recipe::columns() const {
  std::vector<std::string> names;
  for (const FeatureSource& feature : features) {
    if (names.empty() || names.back() != feature.column) names.push_back(feature.column);
  }
  return names;
}

Recipe plain_recipe(const std::vector<std::string>& feature_names, bool named) {
  Recipe recipe;
  for (const std::string& name : feature_names) recipe.features.push_back({name, std::nullopt});
  recipe.named = named;
  return recipe;
}

}  // namespace bregmax
