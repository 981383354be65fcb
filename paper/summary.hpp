#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "paper/table_runs.hpp"

namespace bregmax {

struct Estimate {
  Index runs = 0;  // those with a score: a method may fail on some data
  double mean = 0;
  double half_width = 0;  // of the 95% interval, 1.96 sd / sqrt(runs); NaN for a single run

  double known_half_width() const { return std::isfinite(half_width) ? half_width : 0; }
};
// Of the values times `unit`: 100 turns fractions into percent.
Estimate estimate_of(const std::vector<double>& values, double unit = 100);

// How our value compares with the paper's: within when the difference is at most the half width of its 95% interval,
// sqrt(h1^2 + h2^2). Unknown: the paper has no such cell, or we have a single run.
enum class Verdict { kUnknown, kBelow, kWithin, kAbove };
std::string to_string(Verdict verdict);  // "", "below", "within", "above"
Verdict verdict_of(const Estimate& ours, double paper, double paper_half_width);

struct Cell {
  Estimate ours;
  double paper = 0, paper_half_width = 0;  // NaN: not in the paper
  Verdict verdict = Verdict::kUnknown;
  bool top_two = false;  // at most one method of the paper is larger as printed; our own rows take PBDL's place
  bool ranked = false;   // needs three methods of the paper
};

struct SummaryRow {
  ProtocolRow row;
  std::vector<Cell> cells;  // one per measure
  double seconds = 0;       // mean of a run
};

struct SummaryBlock {
  std::string dataset;
  std::vector<SummaryRow> rows;
};

// In how many cells a row is first or second, and how it compares with the paper's PBDL and with the best known.
struct Headline {
  ProtocolRow row;
  int top_two = 0, ranked = 0;  // of the cells in which three methods of the paper or more were run
  int cells = 0;
  double mean_over_paper = 0, lowest_over_paper = 0;  // of the row minus the paper's PBDL, percentage points
  int best_known = 0;  // cells whose mean plus half width is at least the best known score
};

struct TableSummary {
  PaperTable table;
  std::string choice;  // "per_measure" or "one_model"
  std::vector<SummaryBlock> blocks;
  std::vector<Headline> headlines;
  std::vector<std::string> missing;  // "dataset, method" that were asked for but have no run
};

struct SummaryRequest {
  std::vector<std::string> datasets, rows;  // in the order of the table
  std::optional<KMeansStart> start;         // nullopt: that of each row
  bool one_model = false;
  // Only these runs, so that tables of different files can be compared; runs = 0: all.
  int first = 0, runs = 0;
};

TableSummary summarise(const PaperTable& table, const std::vector<TableRun>& runs, const SummaryRequest& request);

std::string summary_as_text(const TableSummary& summary);
std::string summary_as_markdown(const TableSummary& summary);
std::string summary_as_csv(const TableSummary& summary);
std::string summary_as_json(const TableSummary& summary);
// Mean processor seconds of a run. In a separate file, because times depend on the machine and the table does not.
std::string times_as_markdown(const TableSummary& summary);

}  // namespace bregmax
