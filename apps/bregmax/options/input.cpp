#include "options/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/text.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

// Did the names come from a header? Without one, columns are called x0, x1 and so on, by their place in the file.
bool is_named(const std::vector<std::string>& features) {
  const auto automatic = [](const std::string& name) {
    return name.starts_with('x') && name.size() > 1 && name.find_first_not_of("0123456789", 1) == std::string::npos;
  };
  const auto number = [](const std::string& name) { return std::pair(name.size(), name); };
  return !std::ranges::all_of(features, automatic) || !std::ranges::is_sorted(features, {}, number);
}

void say_notes(const Table& table) {
  for (const std::string& note : table.notes) announce("bregmax: note: " + note);
}

ModelInput read_scaled(const Model& model, const std::string& source, TableOptions layout, const std::string& label) {
  if (!label.empty()) layout.label = label;
  layout.recipe = recipe_of(model);
  ModelInput input{read_table(source, layout), {}};
  say_notes(input.table);
  input.rows = model.scaled(input.table.features);
  return input;
}

}  // namespace

Recipe recipe_of(const Model& model) {
  if (!model.recipe.empty()) return model.recipe;
  std::vector<std::string> names = model.feature_names;
  for (Index f = std::ssize(names); f < model.features(); ++f) names.push_back(feature_name(model, f));
  return plain_recipe(names, is_named(names));
}

void check_sizes(const Table& table) {
  constexpr double kLargest = 1e100;  // what the learners take without scaling
  for (Index row = 0; row < table.features.rows(); ++row) {
    for (Index f = 0; f < table.features.cols(); ++f) {
      if (std::abs(table.features(row, f)) <= kLargest) continue;
      fail(
          "{}: row {} (from 0{}), column {}: found {}; allowed: numbers of at most {} in size; --ignore leaves the "
          "column "
          "out",
          table.source, row, table.names.empty() ? "" : ", " + table.names[row], table.feature_names[f],
          table.features(row, f), kLargest);
    }
  }
}

void say_data(const Table& table, bool describe_it) {
  say_notes(table);
  if (describe_it) announce("bregmax: " + describe(table));
}

void check_row_numbers(const Table& table, const std::string& file) {
  if (table.dropped_rows == 0 || !table.names.empty() || file.empty()) return;
  fail(
      "{}: {} names rows by number, and --missing drop changes their numbers; --id COLUMN names them, or --missing "
      "mean "
      "keeps them",
      table.source, file);
}

ModelInput read_for_model(const Model& model, const std::string& source, TableOptions layout,
                          const std::string& label) {
  ModelInput input = read_scaled(model, source, std::move(layout), label);
  require(input.table.dropped_rows == 0 || !input.table.names.empty(),
          "{}: {} with missing values would be left out, and the others get other numbers; --id COLUMN names the rows, "
          "or --missing mean keeps them",
          input.table.source, count_of(input.table.dropped_rows, "row"));
  return input;
}

ModelInput read_labelled(const Model& model, const std::string& source, const TableOptions& layout) {
  ModelInput input = read_scaled(model, source, layout, "");
  require(input.table.labels.has_value(), "{}: there is no label column, and one is needed; name it with --label",
          source);
  return input;
}

ModelInput read_with_target(const Model& model, const std::string& source, TableOptions layout) {
  layout.target = name_of_target(model, layout);
  require(!layout.target.empty(), "{}: a target, a number for each row, is needed; name its column with --target",
          source);
  return read_scaled(model, source, layout, "");
}

const std::string& name_of_target(const Model& model, const TableOptions& layout) {
  return layout.target.empty() ? model.recipe.target : layout.target;
}

bool learned_from_row_targets(const Model& model) { return model.record.drawn == kTargetDifferences; }

void check_predicts_classes(const Model& model, const std::string& path, const TableOptions& layout) {
  require(!learned_from_row_targets(model) || layout.label != "auto",
          "{}: it was learned from numbers{}, not from classes; bregmax predict predicts numbers", path,
          model.recipe.target.empty() ? "" : " (column " + model.recipe.target + ")");
}

void check_predicts_numbers(const Model& model, const std::string& path, const TableOptions& layout) {
  const std::string& drawn = model.record.drawn;
  const bool from_labels =
      model.record.supervision == "labels" || (!drawn.empty() && drawn != "given" && !learned_from_row_targets(model));
  require(
      !from_labels || !layout.target.empty(),
      "{}: it was learned from classes{}, not from numbers; bregmax classify predicts classes (and --target names a "
      "column of numbers to predict all the same)",
      path, model.recipe.label.empty() ? "" : " (column " + model.recipe.label + ")");
}

SharedClasses share_classes(const Labels& first, const Labels& second) {
  SharedClasses shared{first.of_row, {}, first.class_names};
  std::unordered_map<std::string, int> number_of;
  for (int c = 0; c < first.classes(); ++c) number_of.emplace(first.class_names[c], c);
  std::vector<int> number_in_shared;
  for (const std::string& name : second.class_names) {
    const auto [entry, fresh] = number_of.emplace(name, static_cast<int>(shared.names.size()));
    if (fresh) shared.names.push_back(name);
    number_in_shared.push_back(entry->second);
  }
  for (const int c : second.of_row) shared.second.push_back(number_in_shared[c]);
  return shared;
}

}  // namespace bregmax::app
