#include "paper/published.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include "core/text.hpp"
#include "published_csv.hpp"

namespace bregmax {
namespace {

std::vector<PublishedRow> read_published() {
  const auto number = [](const std::string& field) {
    return field.empty() ? std::numeric_limits<double>::quiet_NaN() : std::stod(field);
  };
  std::vector<PublishedRow> rows;
  std::istringstream lines(kPublishedCsv);
  std::string line;
  std::getline(lines, line);  // the names of the columns
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = internal::split_at_commas(line);
    PublishedRow row{fields.at(0), fields.at(1), {}, {}};
    for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
      row.means[m] = number(fields.at(2 + m));
      row.half_widths[m] = number(fields.at(2 + kTableMeasures.size() + m));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

const std::vector<PublishedRow>& published_rows() {
  static const std::vector<PublishedRow> kRows = read_published();
  return kRows;
}

const PublishedRow* find_published(const std::string& dataset, const std::string& method) {
  const auto& rows = published_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const PublishedRow& row) {
    return row.dataset == dataset && row.method == method;
  });
  return found == rows.end() ? nullptr : &*found;
}

const std::vector<PaperTable>& paper_tables() {
  static const std::vector<PaperTable> kTables = {
      {"table1",
       "Table 1: clustering and ranking",
       {"iris", "balance-scale", "wine", "transfusion"},
       {"pbdl", "itml", "lmnn", "gb-lmnn", "gmml", "nca", "kernel-nca", "mlr-auc", "euclidean"},
       4,
       14,
       16},
      {"table2",
       "Table 2: clustering, ranking and nearest neighbours",
       {"iris", "ionosphere", "balance-scale", "wine", "transfusion", "figure1"},
       {"pbdl", "itml", "lmnn", "gb-lmnn", "gmml", "kernel-nca"},
       5,
       22,
       30},
  };
  return kTables;
}

const PaperTable& paper_table(const std::string& name) {
  return internal::item_named(paper_tables(), name, "unknown table");
}

std::optional<TableScores> best_known(const std::string& dataset) {
  static const std::map<std::string, TableScores> kBest = {
      {"iris", {96.4, 97.3, 97.2, 94.7, 97.1}},          {"ionosphere", {77.7, 87.4, 78.4, 79.8, 88.8}},
      {"balance-scale", {84.4, 87.8, 86.0, 83.2, 93.8}}, {"wine", {95.4, 96.4, 95.9, 93.7, 97.2}},
      {"transfusion", {63.8, 76.6, 54.9, 68.2, 76.5}},   {"figure1", {98.3, 98.7, 98.5, 97.3, 99.1}},
  };
  const auto found = kBest.find(dataset);
  if (found == kBest.end()) return std::nullopt;
  return found->second;
}

}  // namespace bregmax
