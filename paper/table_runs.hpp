#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "paper/protocol.hpp"
#include "paper/work.hpp"

namespace bregmax {

// Where the datasets of the tables come from: most are built in, the others are read from a folder.
struct DatasetSource {
  std::string data_dir;  // empty: none
};

struct NamedTable {
  std::string name;
  Table table;
};
// nullopt: neither built in nor in the folder. Throws Error when the name is none of the paper's or the file is faulty.
std::optional<NamedTable> find_dataset(const std::string& name, const DatasetSource& source);
// One line on how to get a dataset that was not found.
std::string how_to_get(const std::string& name, const DatasetSource& source);

// Which runs of which rows on which datasets.
struct TablePlan {
  std::vector<NamedTable> datasets;
  std::vector<ProtocolRow> rows;
  int first = 0, runs = 100;         // the runs first .. first + runs - 1
  std::optional<KMeansStart> start;  // none: that of each row
  std::uint64_t seed = 0;
};

// Of the files that hold runs of tables.
ResultsFormat table_format(std::uint64_t seed);

// The jobs that are missing in the results, run by run through all datasets: whatever is there is a table.
std::vector<Job> missing_jobs(const TablePlan& plan, const ResultsFile& results);

// A finished run, as read from results.
struct TableRun {
  std::string dataset, row;
  KMeansStart start;
  int run;
  RunScores scores;
  double seconds;
};
std::vector<TableRun> table_runs(const std::map<std::vector<std::string>, ResultsRecord>& records);

std::string to_string(KMeansStart start);                         // "euclidean", "divergence"
std::optional<KMeansStart> start_named(const std::string& name);  // none: "auto"; throws Error on other names

}  // namespace bregmax
