#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/tune.hpp"

namespace bregmax {

// The measures of the paper's tables, in its order.
inline constexpr std::array<Measure, 5> kTableMeasures = {Measure::kRandIndex, Measure::kPurity, Measure::kAuc,
                                                          Measure::kAveragePrecision, Measure::kKnn};
inline constexpr std::size_t kAveragePrecisionColumn = 3;
static_assert(kTableMeasures[kAveragePrecisionColumn] == Measure::kAveragePrecision);
using TableScores = std::array<double, kTableMeasures.size()>;

// What the paper printed (published.csv), in percent: means and half widths of 95% intervals over 100 runs. NaN: not
// printed.
struct PublishedRow {
  std::string dataset, method;
  TableScores means, half_widths;
};

// One of the paper's two tables.
struct PaperTable {
  std::string name;                                   // "table1"
  std::string title;                                  // for people
  std::vector<std::string> datasets;                  // in the paper's order
  std::vector<std::string> methods;                   // of the paper, in its order
  std::size_t measures = 0;                           // columns: the first ones of kTableMeasures
  int headline_first_or_second = 0, headline_of = 0;  // the paper's count for its own method
};

const std::vector<PaperTable>& paper_tables();
// Throws Error that lists the names.
const PaperTable& paper_table(const std::string& name);

const std::vector<PublishedRow>& published_rows();
// nullptr: the paper has no such row.
const PublishedRow* find_published(const std::string& dataset, const std::string& method);

// The best known score of each cell by this protocol, in percent: of the paper's method, its authors' program and
// public implementations of ITML, LMNN, NCA, GMML, SCML and the Euclidean distance, 20 runs each.
std::optional<TableScores> best_known(const std::string& dataset);

}  // namespace bregmax
