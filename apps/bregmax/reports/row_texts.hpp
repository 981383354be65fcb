#pragma once

#include <string>
#include <vector>

#include "bregmax/data/table.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// The names and labels that rows of a table have, for output: as further columns of CSV, and in JSON.
class RowTexts {
 public:
  // prefix: of the names of columns and members: "query_".
  explicit RowTexts(const Table& table, std::string prefix = "") : table_(table), prefix_(std::move(prefix)) {}

  std::string csv_header() const;              // ",name,label", as far as there are any
  std::string csv_fields(Index row) const;     // the same of a row
  void add_to(Json& object, Index row) const;  // "name" and "label" of a row
  void add_lists_to(Json& object) const;       // "names" and "labels" of all rows

 private:
  const Table& table_;
  std::string prefix_;
};

const std::string& label_of(const Labels& labels, Index row);

}  // namespace bregmax::app
