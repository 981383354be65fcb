#include <fmt/format.h>

#include "bregmax/tasks/ranking.hpp"
#include "commands/commands.hpp"
#include "data/text.hpp"
#include "progress.hpp"
#include "reports/row_texts.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kRankExamples = R"(
Examples:
  bregmax rank wine.bregmax --queries new.csv --pool builtin:wine --top 5
  bregmax rank wine.bregmax --queries new.csv --pool stored.npy --out ranking.csv

Nearest first by D(query, pool row); ties by the lower row number. A query that is itself in the pool is ranked with the
rest.)";

struct RankRequest : ModelRequest {
  std::string queries, query_label, pool;
  Index top = 10;
};

using Rankings = std::vector<std::vector<RankedRow>>;

std::string rankings_as_csv(const Rankings& rankings, const RowTexts& of_query, const RowTexts& of_pool) {
  std::string text = "query,rank,row,divergence" + of_query.csv_header() + of_pool.csv_header() + "\n";
  for (std::size_t q = 0; q < rankings.size(); ++q) {
    for (std::size_t place = 0; place < rankings[q].size(); ++place) {
      text += fmt::format("{},{},{},", q, place + 1, rankings[q][place].row);
      internal::append_exact_number(text, rankings[q][place].divergence);
      text += of_query.csv_fields(static_cast<Index>(q)) + of_pool.csv_fields(rankings[q][place].row) + '\n';
    }
  }
  return text;
}

Json rankings_as_json(const Rankings& rankings, const RowTexts& of_query, const RowTexts& of_pool) {
  Json list = Json::array();
  for (const std::vector<RankedRow>& ranking : rankings) {
    Json rows = Json::array();
    for (const RankedRow& ranked : ranking) {
      rows.push_back({{"row", ranked.row}, {"divergence", ranked.divergence}});
      of_pool.add_to(rows.back(), ranked.row);
    }
    list.push_back(std::move(rows));
  }
  Json object = {{"rankings", std::move(list)}};
  of_query.add_lists_to(object);
  return object;
}

ExitCode run_rank(const RankRequest& request) {
  check_outputs({{"--out", request.out}},
                {{"MODEL", request.model}, {"--queries", request.queries}, {"--pool", request.pool}});
  const Model model = load_model(request.model);
  const ModelInput queries = read_for_model(model, request.queries, request.layout, request.query_label);
  const ModelInput pool = read_for_model(model, request.pool, request.layout);

  const Rankings rankings = run_with_progress([&](const RunControl& control) {
    return rank(*model.divergence, queries.rows, pool.rows, request.top, control);
  });
  if (Interrupt::requested()) return report_interrupt("; nothing was written");
  const RowTexts of_query(queries.table, "query_"), of_pool(pool.table);
  print_rows(
      request.out, request.json, [&] { return rankings_as_csv(rankings, of_query, of_pool); },
      {{"queries", rankings.size()}, {"pool", pool.rows.rows()}},
      [&] { return rankings_as_json(rankings, of_query, of_pool); });
  if (!request.json && !request.out.empty()) {
    say(fmt::format("{}: {} ranked", request.out, count_of(queries.rows.rows(), "query", "queries")));
  }
  return kDone;
}

}  // namespace

void add_rank(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program, {"rank", "the nearest rows of a pool for each query", kRankExamples}, run_rank, chosen);
  options.model(request->model);
  options.text("--queries", request->queries, "Q", "rows to look for: CSV, .npy or builtin:NAME")->required();
  options.text("--pool", request->pool, "P", "rows to look in")->required();
  options.whole("--top", request->top, "N", {0, 1'000'000'000}, "rows to list per query; 0: the whole pool");
  options.rest(*request, kCsvOutput, &request->query_label);
}

}  // namespace bregmax::app
