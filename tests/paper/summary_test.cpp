#include "paper/summary.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace bregmax {
namespace {

using ::testing::HasSubstr;

TEST(Estimate, MeanAndIntervalAsComputedByHand) {
  // 90, 92, 97: mean 93, squares 9 + 1 + 16 = 26, variance 13, half width 1.96 sqrt(13 / 3).
  const Estimate estimate = estimate_of({0.90, 0.92, 0.97});
  EXPECT_EQ(estimate.runs, 3);
  EXPECT_NEAR(estimate.mean, 93, 1e-12);
  EXPECT_NEAR(estimate.half_width, 4.0800653, 1e-6);
  EXPECT_TRUE(std::isnan(estimate_of({0.5}).half_width));
  EXPECT_TRUE(std::isnan(estimate_of({}).mean));
  EXPECT_NEAR(estimate_of({2, 4}, 1).half_width, 1.96, 1e-12);
}

TEST(Verdict, ComparesWithTheIntervalOfTheDifference) {
  const Estimate ours{10, 90, 0.3};
  EXPECT_EQ(verdict_of(ours, 90.49, 0.4), Verdict::kWithin);  // sqrt(0.09 + 0.16) = 0.5
  EXPECT_EQ(verdict_of(ours, 90.51, 0.4), Verdict::kBelow);
  EXPECT_EQ(verdict_of(ours, 89.49, 0.4), Verdict::kAbove);
  EXPECT_EQ(verdict_of({1, 90, std::nan("")}, 90, 0.4), Verdict::kUnknown);
  EXPECT_EQ(verdict_of(ours, std::nan(""), std::nan("")), Verdict::kUnknown);
}

TableRun run_of(const std::string& row, int run, double score, KMeansStart start = KMeansStart::kEuclidean) {
  TableRun one{"iris", row, start, run, {}, start == KMeansStart::kEuclidean ? 1.5 + run : 100};
  one.scores.per_measure = {score, score, score, score, score};
  one.scores.one_model = {0.5, 0.5, 0.5, 0.5, 0.5};
  return one;
}

SummaryRequest iris_request(const std::vector<std::string>& rows) {
  SummaryRequest request;
  request.datasets = {"iris"};
  request.rows = rows;
  return request;
}

TEST(Summary, MarksFirstAndSecondAmongTheMethodsOfThePaper) {
  std::vector<TableRun> runs;
  for (int run = 0; run < 2; ++run) {
    runs.push_back(run_of("pbdl", run, 0.9));
    runs.push_back(run_of("itml", run, 0.95));
    runs.push_back(run_of("lmnn", run, 0.93));
    runs.push_back(run_of("gmml", run, 0.9304));         // as printed no larger than 0.93
    runs.push_back(run_of("pbdl-smoothed", run, 0.94));  // our own: takes no place away
    runs.push_back(run_of("pbdl-few-pieces", run, 0.80));
  }
  const auto request = iris_request({"pbdl", "itml", "lmnn", "gmml", "pbdl-smoothed", "pbdl-few-pieces"});
  const TableSummary summary = summarise(paper_table("table2"), runs, request);
  ASSERT_EQ(summary.blocks.size(), 1U);
  std::map<std::string, bool> top;
  for (const SummaryRow& row : summary.blocks[0].rows) top[row.row.name] = row.cells[0].top_two;
  const std::map<std::string, bool> expected = {{"pbdl", false}, {"itml", true},          {"lmnn", true},
                                                {"gmml", true},  {"pbdl-smoothed", true}, {"pbdl-few-pieces", false}};
  EXPECT_EQ(top, expected);
  EXPECT_EQ(summary.headlines[0].top_two, 0);
  EXPECT_EQ(summary.headlines[1].top_two, 5);
  EXPECT_EQ(summary.headlines[1].ranked, 5);
  EXPECT_EQ(summary.headlines[4].cells, 5);
  // The paper's PBDL on iris is 94.5 95.6 96.5 93.5 95.3, with the mean 95.08.
  EXPECT_NEAR(summary.headlines[0].mean_over_paper, 90 - 95.08, 1e-9);
  EXPECT_NEAR(summary.headlines[0].lowest_over_paper, 90 - 96.5, 1e-9);
  EXPECT_EQ(summary.headlines[0].best_known, 0);
}

TEST(Summary, TakesTheRunsStartAndChoiceThatAreAskedFor) {
  std::vector<TableRun> runs;
  for (int run = 0; run < 4; ++run) runs.push_back(run_of("pbdl", run, 0.1 * run));
  runs.push_back(run_of("pbdl", 0, 0.77, KMeansStart::kDivergence));
  SummaryRequest request = iris_request({"pbdl", "itml"});
  request.first = 2;
  request.runs = 2;
  const auto first_row = [&] { return summarise(paper_table("table2"), runs, request).blocks[0].rows[0]; };
  const auto first_cell = [&] { return first_row().cells[0].ours; };
  EXPECT_NEAR(first_cell().mean, 25, 1e-12);
  EXPECT_NEAR(first_row().seconds, (3.5 + 4.5) / 2, 1e-12);
  request.one_model = true;
  EXPECT_NEAR(first_cell().mean, 50, 1e-12);
  request = iris_request({"pbdl"});
  request.start = KMeansStart::kDivergence;
  EXPECT_NEAR(first_cell().mean, 77, 1e-12);
  EXPECT_NEAR(first_row().seconds, 100, 1e-12);
  request.rows = {"itml"};
  const TableSummary none = summarise(paper_table("table2"), runs, request);
  EXPECT_TRUE(none.blocks.empty());
  EXPECT_THAT(none.missing, ::testing::ElementsAre("iris, itml"));
  EXPECT_THAT(summary_as_text(none), ::testing::HasSubstr("because there are no runs: iris, itml\n"));
}

TEST(Summary, ARunThatFailedIsNotCounted) {
  const std::vector<TableRun> runs = {run_of("itml", 0, 0.9), run_of("itml", 1, std::nan("")), run_of("itml", 2, 0.8)};
  const TableSummary summary = summarise(paper_table("table2"), runs, iris_request({"itml"}));
  EXPECT_EQ(summary.blocks[0].rows[0].cells[0].ours.runs, 2);
  EXPECT_NEAR(summary.blocks[0].rows[0].cells[0].ours.mean, 85, 1e-9);
  EXPECT_THAT(summary_as_text(summary), HasSubstr("not ranked")) << "one method alone is neither first nor second";
}

TEST(Summary, AllFormsHaveTheSameNumbers) {
  const std::vector<TableRun> runs = {run_of("pbdl", 0, 0.94), run_of("pbdl", 1, 0.95), run_of("itml", 0, 0.97)};
  const TableSummary summary = summarise(paper_table("table1"), runs, iris_request({"pbdl", "itml"}));
  EXPECT_THAT(summary_as_text(summary), HasSubstr("94.5±1.0"));
  EXPECT_THAT(summary_as_markdown(summary), HasSubstr("| PBDL | 2 | 94.5±1.0 (94.5, within) |"));
  EXPECT_THAT(summary_as_csv(summary), HasSubstr("iris,pbdl,rand_index,2,94.5000,0.9800,94.5000,0.8000,within,0"));
  const auto object = nlohmann::json::parse(summary_as_json(summary));
  EXPECT_EQ(object["cells"].size(), 8U) << "four measures in Table 1";
  EXPECT_NEAR(object["cells"][0]["mean"].get<double>(), 94.5, 1e-9);
  EXPECT_EQ(object["cells"][0]["verdict"], "within");
  EXPECT_TRUE(object["cells"][4]["half_width"].is_null()) << "of one run";
  EXPECT_EQ(object["headlines"].size(), 2U);
}

}  // namespace
}  // namespace bregmax
