#include "paper/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "bregmax/core/error.hpp"

namespace bregmax {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<PublishedRow> iris_rows() {
  return {
      {"iris", "pbdl", {94.5, 95.6, 96.5, 93.5, 95.3}, {0.8, 0.7, 0.4, 0.7, 0.7}},
      {"iris", "itml", {96.4, 97.0, 97.5, 95.3, 97.4}, {0.8, 0.7, 0.3, 0.5, 0.6}},
      {"iris", "lmnn", {90.0, 91.0, 94.3, 89.9, 96.1}, {1.3, 1.3, 0.6, 0.8, 0.6}},
      {"iris", "gb-lmnn", {88.7, 89.9, 94.0, 89.7, 95.6}, {1.5, 1.5, 0.6, 0.8, 0.6}},
      {"iris", "gmml", {93.8, 94.5, 95.7, 92.0, 96.6}, {0.9, 0.9, 0.4, 0.6, 0.5}},
      {"iris", "kernel-nca", {89.9, 90.3, 93.4, 88.3, 91.8}, {1.3, 1.1, 0.6, 0.9, 1.4}},
      {"iris", "mlr-auc", {79.7, 80.1, 84.2, 76.2, kNone}, {2.6, 2.7, 2.4, 2.6, kNone}},
      {"iris", "euclidean", {87.8, 89.2, 93.5, 88.8, kNone}, {0.8, 0.8, 0.3, 0.5, kNone}},
  };
}

std::vector<PublishedRow> ionosphere_rows() {
  return {
      {"ionosphere", "pbdl", {65.2, 77.2, 65.8, 71.1, 81.4}, {1.9, 1.9, 0.8, 0.8, 1.0}},
      {"ionosphere", "itml", {72.2, 83.3, 71.5, 74.6, 85.0}, {1.5, 1.2, 0.7, 0.6, 1.0}},
      {"ionosphere", "lmnn", {58.3, 70.8, 62.2, 69.8, 87.1}, {1.2, 1.2, 1.3, 0.9, 0.8}},
      {"ionosphere", "gb-lmnn", {58.5, 70.9, 64.4, 71.2, 88.3}, {0.9, 1.0, 1.3, 1.0, 0.9}},
      {"ionosphere", "gmml", {61.7, 73.9, 66.3, 71.3, 82.3}, {1.8, 1.7, 0.8, 0.6, 1.0}},
      {"ionosphere", "kernel-nca", {65.4, 77.7, 68.8, 72.0, 84.3}, {1.7, 1.5, 1.1, 0.9, 1.0}},
  };
}

std::vector<PublishedRow> balance_scale_rows() {
  return {
      {"balance-scale", "pbdl", {84.4, 87.8, 86.0, 82.9, 91.4}, {0.7, 0.5, 0.4, 0.5, 0.4}},
      {"balance-scale", "itml", {68.9, 77.5, 80.1, 74.3, 90.0}, {0.9, 0.7, 0.7, 0.8, 0.6}},
      {"balance-scale", "lmnn", {69.5, 77.0, 75.9, 70.0, 87.4}, {1.8, 1.7, 1.3, 1.2, 0.5}},
      {"balance-scale", "gb-lmnn", {71.4, 79.7, 78.1, 72.2, 87.8}, {1.5, 1.4, 1.1, 1.0, 0.6}},
      {"balance-scale", "gmml", {72.9, 80.2, 79.0, 72.8, 87.2}, {0.8, 0.8, 0.4, 0.5, 0.6}},
      {"balance-scale", "nca", {58.9, 65.9, 66.7, 61.7, kNone}, {0.5, 0.8, 0.2, 0.3, kNone}},
      {"balance-scale", "kernel-nca", {65.3, 73.0, 68.7, 63.7, 79.9}, {1.5, 1.6, 1.8, 1.9, 1.7}},
      {"balance-scale", "mlr-auc", {48.0, 53.6, 56.9, 55.8, kNone}, {2.6, 2.9, 3.3, 3.1, kNone}},
      {"balance-scale", "euclidean", {59.3, 66.5, 67.9, 66.2, kNone}, {0.6, 0.9, 0.3, 0.4, kNone}},
  };
}

std::vector<PublishedRow> wine_rows() {
  return {
      {"wine", "pbdl", {83.7, 85.0, 91.0, 86.7, 94.3}, {2.9, 3.2, 0.9, 1.2, 0.9}},
      {"wine", "itml", {82.8, 82.5, 89.1, 84.6, 93.8}, {2.6, 3.1, 1.1, 1.4, 1.0}},
      {"wine", "lmnn", {70.0, 68.8, 82.4, 76.2, 91.7}, {0.8, 1.2, 0.8, 1.1, 0.8}},
      {"wine", "gb-lmnn", {70.6, 69.3, 83.7, 78.5, 93.8}, {0.9, 1.4, 0.1, 1.3, 0.8}},
      {"wine", "gmml", {83.2, 81.0, 91.0, 88.5, 96.5}, {2.9, 3.2, 0.7, 0.7, 0.8}},
      {"wine", "kernel-nca", {70.4, 71.3, 75.1, 67.7, 67.5}, {1.3, 1.4, 0.9, 1.1, 1.2}},
      {"wine", "mlr-auc", {33.1, 40.4, 52.5, 52.4, kNone}, {1.0, 1.4, 1.5, 1.5, kNone}},
      {"wine", "euclidean", {71.2, 70.6, 77.7, 66.1, kNone}, {0.7, 0.8, 0.7, 0.8, kNone}},
  };
}

std::vector<PublishedRow> transfusion_rows() {
  return {
      {"transfusion", "pbdl", {57.9, 75.9, 54.9, 68.2, 75.7}, {1.2, 0.7, 0.4, 0.6, 0.7}},
      {"transfusion", "itml", {60.2, 75.8, 54.2, 66.4, 74.5}, {1.0, 0.7, 0.4, 0.7, 0.6}},
      {"transfusion", "lmnn", {59.4, 76.3, 54.0, 67.1, 75.0}, {1.3, 0.6, 0.5, 0.7, 0.7}},
      {"transfusion", "gb-lmnn", {58.9, 76.3, 54.8, 67.2, 74.1}, {1.2, 0.6, 0.6, 0.7, 0.7}},
      {"transfusion", "gmml", {59.3, 76.6, 54.0, 67.5, 76.1}, {1.3, 0.7, 0.5, 0.7, 0.6}},
      {"transfusion", "kernel-nca", {63.7, 76.2, 52.2, 65.7, 74.7}, {0.7, 0.7, 0.8, 0.8, 0.8}},
      {"transfusion", "mlr-auc", {62.6, 74.9, 42.8, 60.9, kNone}, {1.8, 2.2, 1.3, 1.8, kNone}},
      {"transfusion", "euclidean", {60.6, 76.4, 54.2, 67.0, kNone}, {0.6, 0.4, 0.3, 0.5, kNone}},
  };
}

std::vector<PublishedRow> figure1_rows() {
  return {
      {"figure1", "pbdl", {98.2, 98.6, 97.3, 95.6, 99.1}, {0.3, 0.2, 0.3, 0.5, 0.2}},
      {"figure1", "itml", {76.2, 74.9, 90.5, 83.7, 99.0}, {1.6, 2.5, 0.5, 0.5, 0.2}},
      {"figure1", "lmnn", {73.4, 69.3, 90.4, 83.2, 98.8}, {1.7, 2.6, 0.7, 0.7, 0.2}},
      {"figure1", "gb-lmnn", {73.3, 71.3, 90.5, 83.4, 99.2}, {0.5, 2.6, 0.8, 1.0, 0.2}},
      {"figure1", "gmml", {73.9, 70.8, 91.4, 84.2, 98.9}, {1.8, 2.8, 0.2, 0.3, 0.2}},
      {"figure1", "kernel-nca", {76.5, 73.9, 90.4, 83.9, 98.0}, {2.4, 3.7, 0.6, 0.6, 0.5}},
  };
}

}  // namespace

const std::vector<PublishedRow>& published_rows() {
  static const std::vector<PublishedRow> kRows = [] {
    std::vector<PublishedRow> rows;
    for (const auto& part :
         {iris_rows(), ionosphere_rows(), balance_scale_rows(), wine_rows(), transfusion_rows(), figure1_rows()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
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
  for (const PaperTable& table : paper_tables()) {
    if (table.name == name) return table;
  }
  throw Error(fmt::format("there is no table '{}'; allowed: table1, table2", name));
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
