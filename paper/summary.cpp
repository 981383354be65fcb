#include "paper/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bregmax {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The paper ranks the rounded numbers that it prints.
double as_printed(double percent) { return std::round(percent * 10) / 10; }

using Column = std::vector<std::pair<std::string, double>>;  // methods of the paper with their values

// Are fewer than two of the others larger?
bool is_top_two(double value, const Column& others, const std::string& left_out) {
  const auto larger = std::count_if(others.begin(), others.end(), [&](const auto& other) {
    return other.first != left_out && std::isfinite(other.second) && as_printed(other.second) > as_printed(value);
  });
  return larger < 2;
}

std::vector<double> values_of(const std::vector<TableRun>& runs, const std::string& dataset, const ProtocolRow& row,
                              std::size_t measure, const SummaryRequest& request) {
  const KMeansStart start = request.start.value_or(row.start);
  std::vector<double> values;
  for (const TableRun& run : runs) {
    if (run.dataset != dataset || run.row != row.name || run.start != start) continue;
    if (request.runs > 0 && (run.run < request.first || run.run >= request.first + request.runs)) continue;
    const double value = (request.one_model ? run.scores.one_model : run.scores.per_measure)[measure];
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

double mean_seconds(const std::vector<TableRun>& runs, const std::string& dataset, const std::string& row) {
  double sum = 0;
  int count = 0;
  for (const TableRun& run : runs) {
    if (run.dataset != dataset || run.row != row) continue;
    sum += run.seconds;
    ++count;
  }
  return count > 0 ? sum / count : kNan;
}

SummaryRow row_of(const PaperTable& table, const std::vector<TableRun>& runs, const std::string& dataset,
                  const ProtocolRow& row, const SummaryRequest& request) {
  SummaryRow result{row, {}, mean_seconds(runs, dataset, row.name)};
  const PublishedRow* published = find_published(dataset, row.name);
  for (std::size_t m = 0; m < table.measures; ++m) {
    Cell cell;
    cell.ours = estimate_of(values_of(runs, dataset, row, m, request));
    cell.paper = published != nullptr ? published->means[m] : kNan;
    cell.paper_half_width = published != nullptr ? published->half_widths[m] : kNan;
    cell.verdict = verdict_of(cell.ours, cell.paper, cell.paper_half_width);
    result.cells.push_back(cell);
  }
  return result;
}

void mark_top_two(const PaperTable& table, SummaryBlock& block) {
  for (std::size_t m = 0; m < table.measures; ++m) {
    Column column;
    for (const SummaryRow& row : block.rows) {
      const auto& methods = table.methods;
      if (std::find(methods.begin(), methods.end(), row.row.name) == methods.end()) continue;
      column.emplace_back(row.row.name, row.cells[m].ours.mean);
    }
    if (column.size() < 3) continue;
    for (SummaryRow& row : block.rows) {
      row.cells[m].ranked = true;
      row.cells[m].top_two = is_top_two(row.cells[m].ours.mean, column, row.row.of_paper ? row.row.name : "pbdl");
    }
  }
}

void add_to_headline(Headline& headline, const std::string& dataset, const SummaryRow& row) {
  const PublishedRow* paper = find_published(dataset, "pbdl");
  const auto best = best_known(dataset);
  for (std::size_t m = 0; m < row.cells.size(); ++m) {
    const Estimate& ours = row.cells[m].ours;
    ++headline.cells;
    headline.ranked += row.cells[m].ranked ? 1 : 0;
    headline.top_two += row.cells[m].top_two ? 1 : 0;
    if (paper != nullptr) {
      const double over = ours.mean - paper->means[m];
      headline.mean_over_paper += over;
      headline.lowest_over_paper = std::min(headline.lowest_over_paper, over);
    }
    const double slack = std::isfinite(ours.half_width) ? ours.half_width : 0;
    if (best && ours.mean + slack >= (*best)[m]) ++headline.best_known;
  }
}

std::vector<Headline> headlines_of(const std::vector<SummaryBlock>& blocks, const SummaryRequest& request) {
  std::vector<Headline> list;
  for (const std::string& name : request.rows) {
    Headline headline{protocol_row(name), 0, 0, 0, 0, std::numeric_limits<double>::infinity(), 0};
    for (const SummaryBlock& block : blocks) {
      for (const SummaryRow& row : block.rows) {
        if (row.row.name == name) add_to_headline(headline, block.dataset, row);
      }
    }
    if (headline.cells == 0) continue;
    headline.mean_over_paper /= headline.cells;
    list.push_back(headline);
  }
  return list;
}

}  // namespace

Estimate estimate_of(const std::vector<double>& values, double unit) {
  Estimate estimate;
  estimate.runs = static_cast<Index>(values.size());
  estimate.mean = estimate.half_width = kNan;
  if (values.empty()) return estimate;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += unit * value;
  estimate.mean = sum / count;
  if (values.size() < 2) return estimate;
  double squares = 0;
  for (const double value : values) squares += std::pow(unit * value - estimate.mean, 2);
  estimate.half_width = 1.96 * std::sqrt(squares / (count - 1) / count);
  return estimate;
}

std::string to_string(Verdict verdict) {
  static constexpr const char* kNames[] = {"", "below", "within", "above"};
  return kNames[static_cast<int>(verdict)];
}

Verdict verdict_of(const Estimate& ours, double paper, double paper_half_width) {
  const double half_width = std::hypot(ours.half_width, paper_half_width);
  if (!std::isfinite(ours.mean) || !std::isfinite(paper) || !std::isfinite(half_width)) return Verdict::kUnknown;
  const double difference = ours.mean - paper;
  if (std::abs(difference) <= half_width) return Verdict::kWithin;
  return difference > 0 ? Verdict::kAbove : Verdict::kBelow;
}

TableSummary summarise(const PaperTable& table, const std::vector<TableRun>& runs, const SummaryRequest& request) {
  TableSummary summary{table, request.one_model ? "one_model" : "per_measure", {}, {}, {}};
  for (const std::string& dataset : request.datasets) {
    SummaryBlock block{dataset, {}};
    for (const std::string& name : request.rows) {
      SummaryRow row = row_of(table, runs, dataset, protocol_row(name), request);
      if (row.cells.front().ours.runs == 0) {
        summary.missing.push_back(fmt::format("{}, {}", dataset, name));
      } else {
        block.rows.push_back(std::move(row));
      }
    }
    if (block.rows.empty()) continue;
    mark_top_two(table, block);
    summary.blocks.push_back(std::move(block));
  }
  summary.headlines = headlines_of(summary.blocks, request);
  return summary;
}

}  // namespace bregmax
