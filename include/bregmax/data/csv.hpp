#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// The content of a CSV file before any column is given a meaning. A column is either numeric (all of its fields are
// finite numbers) or text.
struct CsvColumn {
  std::string name;
  bool numeric = true;
  std::vector<double> numbers;     // numeric columns
  std::vector<std::string> texts;  // text columns
};

struct CsvContent {
  bool has_header = false;
  std::vector<CsvColumn> columns;
  std::vector<Index> line_of_row;  // line in the file, from 1, for messages
};

// `source` only names the text in messages.
CsvContent parse_csv(std::string_view text, const std::string& source);
std::string read_whole_file(const std::string& path);

}  // namespace bregmax
