#include "options/supervision_files.hpp"

#include "options/options.hpp"

namespace bregmax::app {

std::vector<CLI::Option*> add_supervision_files(OptionAdder& options, SupervisionFiles& files) {
  std::vector<CLI::Option*> sources = {
      options.text("--comparisons-file", files.comparisons, "F",
                   "CSV of rows i,j,k,l and perhaps weight: D(i,j) <= D(k,l); or of triplets anchor,near,far: "
                   "D(anchor,near) <= D(anchor,far)"),
      options.text("--pairs-file", files.pairs, "F",
                   "CSV of i,j,s and perhaps weight: s is 1 (similar) or 0 (dissimilar), in both directions"),
      options.text("--targets-file", files.targets, "F", "CSV of i,j,value and perhaps weight: D(i,j) = value")};
  options.flag("--directed", files.directed, "a pair i,j says something about D(i,j) only, and nothing about D(j,i)")
      ->needs(sources[1]);
  add_first_row(options, files.first_row);
  for (CLI::Option* one : sources) {
    for (CLI::Option* other : sources) {
      if (one != other) one->excludes(other);
    }
  }
  return sources;
}

void add_first_row(OptionAdder& options, std::optional<Index>& first_row) {
  options.whole("--first-row", first_row, "N", {0, 1}, "the number of the first row in files that name rows by number")
      ->default_str("0");
}

std::vector<NamedFile> input_files(const SupervisionFiles& files) {
  return {{"--comparisons-file", files.comparisons}, {"--pairs-file", files.pairs}, {"--targets-file", files.targets}};
}

RowNames row_names(const Table& table, std::optional<Index> first_row) {
  return {table.features.rows(), table.names, first_row};
}

RunControl saying_notes() {
  RunControl control;
  control.on_log = [](std::string_view line) { say(fmt::format("bregmax: {}", line)); };
  return control;
}

std::optional<MethodSupervision> read_supervision(const SupervisionFiles& files, const Table& table) {
  const RowNames rows = row_names(table, files.first_row);
  const RunControl notes = saying_notes();
  if (!files.comparisons.empty()) return read_comparisons(files.comparisons, rows, notes);
  if (!files.pairs.empty()) return read_pairs(files.pairs, rows, notes);
  if (!files.targets.empty()) return read_targets(files.targets, rows, notes);
  require(!files.first_row,
          "--first-row is about the rows that --comparisons-file, --pairs-file or --targets-file name");
  return std::nullopt;
}

}  // namespace bregmax::app
