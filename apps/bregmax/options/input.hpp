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

// How the model's features are made of columns; of a model without a recipe, the columns that its features are named
// by.
Recipe recipe_of(const Model& model);

// Rows for a model: its features in its order. Says what was assumed. `label`, unless it is empty, replaces the label
// column of the layout. Throws Error when the file does not fit the model, and when rows without a name were left out:
// results would have other numbers than the rows of the file.
ModelInput read_for_model(const Model& model, const std::string& source, TableOptions layout,
                          const std::string& label = "");

// The same, and an Error if the file has no labels; rows may be left out.
ModelInput read_labelled(const Model& model, const std::string& source, const TableOptions& layout);

// The same with a target, of the column that the layout names or that the model was learned from.
ModelInput read_with_target(const Model& model, const std::string& source, TableOptions layout);

// A model that was learned from a number per row predicts numbers, and one that was learned from labels classes. Throws
// Error that names the other command.
void check_predicts_classes(const Model& model, const std::string& path, const TableOptions& layout);
void check_predicts_numbers(const Model& model, const std::string& path, const TableOptions& layout);
bool learned_from_row_targets(const Model& model);
// The column that the layout names or that the model was learned from.
const std::string& name_of_target(const Model& model, const TableOptions& layout);

// Throws Error that names row and column of a number that is too large to learn from.
void check_sizes(const Table& table);

// Says, before the work, what was assumed of a table to learn from and, if `describe_it`, what it holds.
void say_data(const Table& table, bool describe_it);

// Rows that were left out shift the numbers of the others. Throws Error if `file`, unless its name is empty, names
// items by number.
void check_row_numbers(const Table& table, const std::string& file);

// One numbering of the classes of two tables, each of which numbers its classes by first appearance.
struct SharedClasses {
  std::vector<int> first, second;
  std::vector<std::string> names;
};
SharedClasses share_classes(const Labels& first, const Labels& second);

}  // namespace bregmax::app
