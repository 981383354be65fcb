#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/work.hpp"
#include "paper/protocol.hpp"

namespace bregmax {

struct NamedTable {
  std::string name;
  Table table;
};
// A dataset of the tables: built in, or NAME.csv in the folder `data_dir` (empty: there is no folder). nullopt: it is
// in neither. Throws Error when the paper has no such dataset or the file is faulty.
std::optional<NamedTable> find_dataset(const std::string& name, const std::string& data_dir);
// One line on how to get a dataset that was not found.
std::string how_to_get(const std::string& name, const std::string& data_dir);

// Which runs of which rows on which datasets.
struct TablePlan {
  std::vector<NamedTable> datasets;
  std::vector<ProtocolRow> rows;
  int first = 0, runs = 100;         // the runs first .. first + runs - 1
  std::optional<KMeansStart> start;  // nullopt: that of each row
  std::uint64_t seed = 0;
};

// The format of the files with runs of tables.
ResultsFormat table_format(std::uint64_t seed);

// The jobs whose results are missing, by run, then dataset, then method, so that the results make a table at any time.
// They refer to the plan, which must outlive them.
std::vector<Job> missing_jobs(const TablePlan& plan, const ResultsFile& results);

// A finished run, as read from results.
struct TableRun {
  std::string dataset, row;
  KMeansStart start;
  int run;
  RunScores scores;
  double seconds;
};
std::vector<TableRun> table_runs(const Records& records);

}  // namespace bregmax
