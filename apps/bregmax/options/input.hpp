#pragma once

#include <string>
#include <vector>

#include "bregmax/data/table.hpp"
#include "bregmax/model/model.hpp"

namespace bregmax::app {

// How the files that a command reads are laid out.
struct Layout {
  std::string label = "auto";
  std::string piece_column;

  // The same, but with this label column unless it is empty.
  Layout with_label(const std::string& other) const { return {other.empty() ? label : other, piece_column}; }
};

// The table as read, and its features scaled as the model's training data was.
struct ModelInput {
  Table table;
  Matrix rows;
};

// Throws Error when the file does not fit the model: another number of features, or the same names in another order.
ModelInput read_for_model(const Model& model, const std::string& source, const Layout& layout);

// The same, and an Error if the file has no labels.
ModelInput read_labelled(const Model& model, const std::string& source, const Layout& layout);

// One numbering of the classes of two tables, each of which numbers its classes by first appearance.
struct SharedClasses {
  std::vector<int> first, second;
  std::vector<std::string> names;
};
SharedClasses share_classes(const Labels& first, const Labels& second);

}  // namespace bregmax::app
