#pragma once

#include <string>
#include <vector>

#include "bregmax/data/table.hpp"

namespace bregmax {

struct BuiltinDataset {
  std::string name;
  Index rows, features;
  int classes;
  std::string description;  // one line
  std::string source;       // where it comes from
  std::string licence;
};

const std::vector<BuiltinDataset>& builtin_datasets();
// Throws Error that lists the names when no dataset has this name.
Table load_builtin(const std::string& name, const TableOptions& options = {});

}  // namespace bregmax
