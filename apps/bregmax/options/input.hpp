#pragma once

#include <string>
#include <vector>

#include "bregmax/data/table.hpp"
#include "bregmax/model/model.hpp"

namespace bregmax::app {

// The table as read, and its features scaled as the model's training data was.
struct ModelInput {
  Table table;
  Matrix rows;
};

// Throws Error when the table does not fit the model: another number of features, or the same names in another order.
void check_features(const Model& model, const Table& table);

// Throws Error when the file does not fit the model. `label`, unless it is empty, replaces the label column of the
// layout.
ModelInput read_for_model(const Model& model, const std::string& source, TableOptions layout,
                          const std::string& label = "");

// The same, and an Error if the file has no labels.
ModelInput read_labelled(const Model& model, const std::string& source, const TableOptions& layout);

// One numbering of the classes of two tables, each of which numbers its classes by first appearance.
struct SharedClasses {
  std::vector<int> first, second;
  std::vector<std::string> names;
};
SharedClasses share_classes(const Labels& first, const Labels& second);

}  // namespace bregmax::app
