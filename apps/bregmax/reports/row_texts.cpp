#include "reports/row_texts.hpp"

#include "data/text.hpp"

namespace bregmax::app {

const std::string& label_of(const Labels& labels, Index row) { return labels.class_names[labels.of_row[row]]; }

std::string RowTexts::csv_header() const {
  return (table_.names.empty() ? "" : fmt::format(",{}name", prefix_)) +
         (table_.labels ? fmt::format(",{}label", prefix_) : "");
}

std::string RowTexts::csv_fields(Index row) const {
  return (table_.names.empty() ? "" : "," + internal::csv_field(table_.names[row])) +
         (table_.labels ? "," + internal::csv_field(label_of(*table_.labels, row)) : "");
}

void RowTexts::add_to(Json& object, Index row) const {
  if (!table_.names.empty()) object[prefix_ + "name"] = table_.names[row];
  if (table_.labels) object[prefix_ + "label"] = label_of(*table_.labels, row);
}

void RowTexts::add_lists_to(Json& object) const {
  if (!table_.names.empty()) object[prefix_ + "names"] = table_.names;
  if (!table_.labels) return;
  Json& labels = object[prefix_ + "labels"] = Json::array();
  for (Index row = 0; row < table_.features.rows(); ++row) labels.push_back(label_of(*table_.labels, row));
}

}  // namespace bregmax::app
