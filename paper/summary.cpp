#include "paper/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/text.hpp"

namespace bregmax {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The paper ranks the rounded numbers that it prints.
double as_printed(double percent) { return std::round(percent * 10) / 10; }

// The runs of a row on a dataset that are asked for.
std::vector<TableRun> runs_of(const std::vector<TableRun>& all, const std::string& dataset, const ProtocolRow& row,
                              const SummaryRequest& request) {
  const KMeansStart start = request.start.value_or(row.start);
  std::vector<TableRun> runs;
  for (const TableRun& run : all) {
    if (run.dataset != dataset || run.row != row.name || run.start != start) continue;
    if (request.runs > 0 && (run.run < request.first || run.run >= request.first + request.runs)) continue;
    runs.push_back(run);
  }
  return runs;
}

std::vector<double> values_of(const std::vector<TableRun>& runs, std::size_t measure, bool one_model) {
  std::vector<double> values;
  for (const TableRun& run : runs) {
    const double value = (one_model ? run.scores.one_model : run.scores.per_measure)[measure];
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

SummaryRow row_of(const PaperTable& table, const std::vector<TableRun>& all, const std::string& dataset,
                  const ProtocolRow& row, const SummaryRequest& request) {
  const std::vector<TableRun> runs = runs_of(all, dataset, row, request);
  SummaryRow result{row, {}, 0};
  for (const TableRun& run : runs) result.seconds += run.seconds / static_cast<double>(runs.size());
  const PublishedRow* published = find_published(dataset, row.name);
  for (std::size_t m = 0; m < table.measures; ++m) {
    Cell cell;
    cell.ours = estimate_of(values_of(runs, m, request.one_model));
    cell.paper = published != nullptr ? published->means[m] : kNan;
    cell.paper_half_width = published != nullptr ? published->half_widths[m] : kNan;
    cell.verdict = verdict_of(cell.ours, cell.paper, cell.paper_half_width);
    result.cells.push_back(cell);
  }
  return result;
}

void mark_top_two(const PaperTable& table, SummaryBlock& block) {
  const auto of_table = [&](const SummaryRow& row) { return std::ranges::count(table.methods, row.row.name) > 0; };
  if (std::ranges::count_if(block.rows, of_table) < 3) return;
  for (std::size_t m = 0; m < table.measures; ++m) {
    for (SummaryRow& row : block.rows) {
      const std::string left_out = row.row.of == ProtocolRow::Of::kPaper ? row.row.name : "pbdl";
      const double ours = as_printed(row.cells[m].ours.mean);
      const auto larger = std::ranges::count_if(block.rows, [&](const SummaryRow& other) {
        return of_table(other) && other.row.name != left_out && as_printed(other.cells[m].ours.mean) > ours;
      });
      row.cells[m].ranked = true;
      row.cells[m].top_two = larger < 2;
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
    if (best && ours.mean + ours.known_half_width() >= (*best)[m]) ++headline.best_known;
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

// ---- The summary as text ----

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, kTableMeasures.size()> kColumnTitles = {"Rand index", "purity", "AUC", "avg. prec.",
                                                                          "5-NN"};
constexpr int kRowTitleWidth = 29, kCellWidth = 21;

constexpr std::string_view kSigns = " -=+";  // of the verdicts

std::string half_width_text(double half_width) {
  return std::isfinite(half_width) ? fmt::format("±{:.1f}", half_width) : std::string();
}

// To a width in characters: ± is two bytes.
std::string padded(const std::string& text, int width) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
  return std::string(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, width - characters)), ' ') + text;
}

std::string text_cell(const Cell& cell) {
  const std::string paper = std::isfinite(cell.paper) ? fmt::format("{:.1f}", cell.paper) : "-";
  return padded(fmt::format("{:.1f}{}{} {}{}", cell.ours.mean, half_width_text(cell.ours.half_width),
                            cell.top_two ? "*" : " ", padded(paper, 4), kSigns[static_cast<std::size_t>(cell.verdict)]),
                kCellWidth);
}

std::string rank_text(const Headline& line) {
  return line.ranked > 0 ? fmt::format("{} of {}", line.top_two, line.ranked) : std::string("not ranked");
}

std::string headline_text(const TableSummary& summary) {
  std::string out = fmt::format("First or second among the methods of the paper (its own count for PBDL: {} of {}):\n",
                                summary.table.headline_first_or_second, summary.table.headline_of);
  for (const Headline& line : summary.headlines) {
    out += fmt::format(
        "  {:<{}} {:<10}  difference from the paper's PBDL: mean {:+.2f}, lowest {:+.2f}; best known in {} of {}\n",
        line.row.title, kRowTitleWidth, rank_text(line), line.mean_over_paper, line.lowest_over_paper, line.best_known,
        line.cells);
  }
  return out;
}

std::string runs_text(const TableSummary& summary) {
  Index fewest = std::numeric_limits<Index>::max(), most = 0;
  for (const SummaryBlock& block : summary.blocks) {
    for (const SummaryRow& row : block.rows) {
      fewest = std::min(fewest, row.cells.front().ours.runs);
      most = std::max(most, row.cells.front().ours.runs);
    }
  }
  return fewest >= most ? fmt::format("{} runs", most) : fmt::format("{} to {} runs", fewest, most);
}

// Calls use(dataset, row, measure, cell) for all cells.
template <class Use>
void for_each_cell(const TableSummary& summary, const Use& use) {
  for (const SummaryBlock& block : summary.blocks) {
    for (const SummaryRow& row : block.rows) {
      for (std::size_t m = 0; m < row.cells.size(); ++m) {
        use(block.dataset, row.row.name, to_string(kTableMeasures[m]), row.cells[m]);
      }
    }
  }
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", internal::joined(cells, " | "));
}

std::string markdown_head(const std::vector<std::string>& cells) {
  std::string rule = "|";
  for (std::size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return markdown_row(cells) + rule + "\n";
}

// The first and the second of a column are bold, as in the paper.
std::string markdown_cell(const Cell& cell) {
  std::string ours = fmt::format("{:.1f}{}", cell.ours.mean, half_width_text(cell.ours.half_width));
  if (cell.top_two) ours = fmt::format("**{}**", ours);
  if (!std::isfinite(cell.paper)) return ours;
  const std::string verdict = to_string(cell.verdict);
  return fmt::format("{} ({:.1f}{}{})", ours, cell.paper, verdict.empty() ? "" : ", ", verdict);
}

}  // namespace

std::string summary_as_text(const TableSummary& summary) {
  std::string out =
      fmt::format("{}; percent, mean and 95% half width of {}\n", summary.table.title, runs_text(summary));
  out += "*: first or second; then the paper's value and where ours lies: = within, + above, - below\n";
  for (const SummaryBlock& block : summary.blocks) {
    out += fmt::format("\n{:<{}} {:>4}", block.dataset, kRowTitleWidth, "runs");
    for (std::size_t m = 0; m < summary.table.measures; ++m)
      out += fmt::format("{} paper", padded(kColumnTitles[m], kCellWidth - 6));
    out += "\n";
    for (const SummaryRow& row : block.rows) {
      out += fmt::format("{:<{}} {:>4}", row.row.title, kRowTitleWidth, row.cells.front().ours.runs);
      for (const Cell& cell : row.cells) out += text_cell(cell);
      out += "\n";
    }
  }
  out += fmt::format("\n{}", headline_text(summary));
  if (!summary.missing.empty())
    out += fmt::format("\nnot in the table, because there are no runs: {}\n", internal::joined(summary.missing, "; "));
  return out;
}

std::string summary_as_markdown(const TableSummary& summary) {
  std::vector<std::string> head = {"method", "runs"};
  head.insert(head.end(), kColumnTitles.begin(), kColumnTitles.begin() + summary.table.measures);
  std::string out;
  for (const SummaryBlock& block : summary.blocks) {
    out += fmt::format("### {}\n\n{}", block.dataset, markdown_head(head));
    for (const SummaryRow& row : block.rows) {
      std::vector<std::string> cells = {row.row.title, fmt::format("{}", row.cells.front().ours.runs)};
      for (const Cell& cell : row.cells) cells.push_back(markdown_cell(cell));
      out += markdown_row(cells);
    }
    out += "\n";
  }
  out += markdown_head({"method",
                        fmt::format("first or second (paper's PBDL: {} of {})", summary.table.headline_first_or_second,
                                    summary.table.headline_of),
                        "difference from the paper's PBDL, mean", "lowest", "best known"});
  for (const Headline& line : summary.headlines) {
    out += markdown_row({line.row.title, rank_text(line), fmt::format("{:+.2f}", line.mean_over_paper),
                         fmt::format("{:+.2f}", line.lowest_over_paper),
                         fmt::format("{} of {}", line.best_known, line.cells)});
  }
  return out;
}

std::string times_as_markdown(const TableSummary& summary) {
  std::vector<std::string> head = {"method"};
  for (const SummaryBlock& block : summary.blocks) head.push_back(block.dataset);
  std::string out = markdown_head(head);
  for (const Headline& line : summary.headlines) {
    std::vector<std::string> cells = {line.row.title};
    for (const SummaryBlock& block : summary.blocks) {
      const auto row = std::find_if(block.rows.begin(), block.rows.end(),
                                    [&](const SummaryRow& one) { return one.row.name == line.row.name; });
      cells.push_back(row == block.rows.end() ? "" : fmt::format("{:.2g}", row->seconds));
    }
    out += markdown_row(cells);
  }
  return out;
}

std::string summary_as_csv(const TableSummary& summary) {
  std::string out = "dataset,method,measure,runs,mean,half_width,paper,paper_half_width,verdict,top_two\n";
  const auto text = [](double value) { return std::isfinite(value) ? fmt::format("{:.4f}", value) : std::string(); };
  for_each_cell(summary, [&](const auto& dataset, const auto& method, const auto& measure, const Cell& cell) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", dataset, method, measure, cell.ours.runs,
                       text(cell.ours.mean), text(cell.ours.half_width), text(cell.paper), text(cell.paper_half_width),
                       to_string(cell.verdict), cell.top_two ? 1 : 0);
  });
  return out;
}

std::string summary_as_json(const TableSummary& summary) {
  Json object = {{"table", summary.table.name},
                 {"choice", summary.choice},
                 {"paper_first_or_second", summary.table.headline_first_or_second},
                 {"paper_cells", summary.table.headline_of},
                 {"cells", Json::array()},
                 {"headlines", Json::array()},
                 {"missing", summary.missing}};
  for_each_cell(summary, [&](const auto& dataset, const auto& method, const auto& measure, const Cell& cell) {
    object["cells"].push_back(
        {{"dataset", dataset},
         {"method", method},
         {"measure", measure},
         {"runs", cell.ours.runs},
         {"mean", cell.ours.mean},
         {"half_width", cell.ours.half_width},
         {"paper", cell.paper},
         {"paper_half_width", cell.paper_half_width},
         {"verdict", cell.verdict == Verdict::kUnknown ? Json(nullptr) : Json(to_string(cell.verdict))},
         {"top_two", cell.top_two}});
  });
  for (const Headline& line : summary.headlines) {
    object["headlines"].push_back({{"method", line.row.name},
                                   {"first_or_second", line.top_two},
                                   {"ranked", line.ranked},
                                   {"cells", line.cells},
                                   {"mean_over_paper", line.mean_over_paper},
                                   {"lowest_over_paper", line.lowest_over_paper},
                                   {"best_known", line.best_known}});
  }
  return object.dump(2) + "\n";  // NaN becomes null
}

}  // namespace bregmax
