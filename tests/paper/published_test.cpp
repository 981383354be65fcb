#include "paper/published.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "data/expect_error.hpp"
#include "paper/summary.hpp"

namespace bregmax {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

// The paper's captions count 14 of 16 and 22 of 30 cells: a typing error in the numbers would show here.
TEST(Published, ValuesGiveTheCountsOfTheCaptions) {
  std::vector<TableRun> runs;
  for (const PublishedRow& row : published_rows()) {
    TableRun run{row.dataset, row.method, KMeansStart::kEuclidean, 0, {}, 0};
    for (std::size_t m = 0; m < kTableMeasures.size(); ++m) run.scores.per_measure[m] = row.means[m] / 100;
    runs.push_back(run);
  }
  for (const PaperTable& table : paper_tables()) {
    SummaryRequest request;
    request.datasets = table.datasets;
    request.rows = table.methods;
    const TableSummary summary = summarise(table, runs, request);
    EXPECT_EQ(summary.headlines.front().row.name, "pbdl");
    EXPECT_EQ(summary.headlines.front().top_two, table.headline_first_or_second) << table.name;
    EXPECT_EQ(table.datasets.size() * table.measures, static_cast<std::size_t>(table.headline_of));
  }
}

TEST(Published, RowsAreWholeAndPlausible) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const PublishedRow& row : published_rows()) {
    EXPECT_TRUE(seen.insert({row.dataset, row.method}).second) << row.dataset << " " << row.method;
    for (std::size_t m = 0; m < kTableMeasures.size(); ++m) {
      EXPECT_EQ(std::isfinite(row.means[m]), std::isfinite(row.half_widths[m]));
      if (!std::isfinite(row.means[m])) continue;
      EXPECT_GT(row.means[m], 30);
      EXPECT_LT(row.means[m], 100);
      EXPECT_LT(row.half_widths[m], 4);
    }
  }
  EXPECT_EQ(seen.size(), 45U);
}

TEST(Published, EveryMethodOfATableHasItsRows) {
  for (const PaperTable& table : paper_tables()) {
    for (const std::string& dataset : table.datasets) {
      EXPECT_TRUE(best_known(dataset).has_value());
      for (const std::string& method : table.methods) {
        if (method == "nca" && dataset != "balance-scale") continue;  // printed for one dataset only
        EXPECT_NE(find_published(dataset, method), nullptr) << dataset << " " << method;
      }
    }
  }
}

TEST(Published, RefusesAnotherTable) {
  EXPECT_THAT(error_of([] { paper_table("table3"); }), HasSubstr("table1"));
}

}  // namespace
}  // namespace bregmax
