#include "options/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>

#include "core/text.hpp"
#include "reports/output.hpp"

namespace bregmax::app {
namespace {

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  if (names.empty()) return "without names";
  const std::span shown(names.data(), std::min(names.size(), kMost));
  return internal::joined(shown, ", ") + (names.size() > kMost ? ", ..." : "");
}

// Did the names come from a header? Without one, columns are called x0, x1 and so on, by their place in the file.
bool is_named(const std::vector<std::string>& features) {
  const auto automatic = [](const std::string& name) {
    return name.starts_with('x') && name.size() > 1 && name.find_first_not_of("0123456789", 1) == std::string::npos;
  };
  const auto number = [](const std::string& name) { return std::pair(name.size(), name); };
  return !std::ranges::all_of(features, automatic) || !std::ranges::is_sorted(features, {}, number);
}

}  // namespace

void check_features(const Model& model, const Table& table) {
  require(table.features.cols() == model.features(),
          "{}: found {} features ({}); the model has {} ({}); --label and --piece-column name "
          "the columns that are not features",
          table.source, table.features.cols(), name_list(table.feature_names), model.features(),
          name_list(model.feature_names));
  const bool model_named = is_named(model.feature_names), table_named = is_named(table.feature_names);
  if (!model_named && !table_named) return;  // a label column before the features shifts such names
  const auto named_alike = [&](const std::string& name) {
    return std::ranges::find(model.feature_names, name) != model.feature_names.end();
  };
  // If no name is the same, we rely on the order; if some are, the others must be, too.
  if (std::ranges::none_of(table.feature_names, named_alike)) {
    if (!model_named || !table_named) return;
    say(fmt::format(
        "bregmax: note: {}: the features ({}) have other names than in the model ({}); they are taken in their order",
        table.source, name_list(table.feature_names), name_list(model.feature_names)));
    return;
  }
  for (std::size_t f = 0; f < table.feature_names.size(); ++f) {
    const std::string& name = table.feature_names[f];
    if (name == model.feature_names[f]) continue;
    require(named_alike(name), "{}: feature {} (from 0) is {}, which the model does not have; expected {} ({})",
            table.source, f, name, model.feature_names[f], name_list(model.feature_names));
    fail(
        "{}: the features are in another order than in the model: feature {} (from 0) is {}; "
        "expected {}",
        table.source, f, table.feature_names[f], model.feature_names[f]);
  }
}

ModelInput read_for_model(const Model& model, const std::string& source, TableOptions layout,
                          const std::string& label) {
  if (!label.empty()) layout.label = label;
  ModelInput input{read_table(source, layout), {}};
  check_features(model, input.table);
  input.rows = model.scaled(input.table.features);
  return input;
}

ModelInput read_labelled(const Model& model, const std::string& source, const TableOptions& layout) {
  ModelInput input = read_for_model(model, source, layout);
  require(input.table.labels.has_value(), "{}: there is no label column, and one is needed; name it with --label",
          source);
  return input;
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
