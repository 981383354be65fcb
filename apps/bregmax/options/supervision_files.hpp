#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bregmax/data/table.hpp"
#include "bregmax/methods/learned.hpp"
#include "bregmax/supervision/files.hpp"
#include "reports/output.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 has
class Option;
}

namespace bregmax::app {

class OptionAdder;

// Files of items, at most one of which is given, and how they are read.
struct SupervisionFiles {
  std::string comparisons, pairs, targets;
  bool directed = false;
  std::optional<Index> first_row;

  bool given() const { return !comparisons.empty() || !pairs.empty() || !targets.empty(); }
  const std::string& path() const { return !comparisons.empty() ? comparisons : !pairs.empty() ? pairs : targets; }
};

// The three options of files, which the caller may exclude with others. The rest of the struct is added, too.
std::vector<CLI::Option*> add_supervision_files(OptionAdder& options, SupervisionFiles& files);
void add_first_row(OptionAdder& options, std::optional<Index>& first_row);

std::vector<NamedFile> input_files(const SupervisionFiles& files);

// How files name the rows of this table.
RowNames row_names(const Table& table, std::optional<Index> first_row);
// Reads the one that is given; nothing: none is. What was assumed is said on standard error.
std::optional<MethodSupervision> read_supervision(const SupervisionFiles& files, const Table& table);
// Says what a reader assumed.
RunControl saying_notes();

}  // namespace bregmax::app
