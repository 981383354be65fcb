#include <fmt/format.h>

#include <memory>

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/tasks/ranking.hpp"
#include "commands/commands.hpp"
#include "options/input.hpp"
#include "options/options.hpp"
#include "reports/output.hpp"
#include "reports/run.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kRankExamples = R"(
Examples:
  bregmax rank wine.bregmax --queries new.csv --pool builtin:wine --top 5
  bregmax rank wine.bregmax --queries new.csv --pool stored.npy --out ranking.csv

Nearest first by D(query, pool row); equal ones by the lower row number. A query that is itself in the pool is ranked
with the rest.)";

struct RankRequest {
  std::string model, queries, query_label, pool, out;
  Layout layout;
  std::uint64_t top = 10, threads = 0;
  bool json = false;
};

using Rankings = std::vector<std::vector<RankedRow>>;

std::string as_csv(const Rankings& rankings) {
  std::string text = "query,rank,row,divergence\n";
  for (std::size_t q = 0; q < rankings.size(); ++q) {
    for (std::size_t place = 0; place < rankings[q].size(); ++place) {
      text += fmt::format("{},{},{},", q, place + 1, rankings[q][place].row);
      append_exact_number(text, rankings[q][place].divergence);
      text += '\n';
    }
  }
  return text;
}

Json as_json(const Rankings& rankings, Index pool_rows, const std::string& out) {
  Json object = {{"queries", rankings.size()}, {"pool", pool_rows}};
  if (!out.empty()) {
    object["out"] = out;
    return object;
  }
  Json list = Json::array();
  for (const std::vector<RankedRow>& ranking : rankings) {
    Json rows = Json::array();
    for (const RankedRow& ranked : ranking) rows.push_back({{"row", ranked.row}, {"divergence", ranked.divergence}});
    list.push_back(std::move(rows));
  }
  object["rankings"] = std::move(list);
  return object;
}

ExitCode run_rank(const RankRequest& request) {
  const ThreadLimit limit(static_cast<int>(request.threads));
  check_outputs({{"--out", request.out}},
                {{"MODEL", request.model}, {"--queries", request.queries}, {"--pool", request.pool}});
  const Model model = load_model(request.model);
  const ModelInput queries = read_for_model(model, request.queries, request.layout.with_label(request.query_label));
  const ModelInput pool = read_for_model(model, request.pool, request.layout);

  const Interrupt interrupt;
  ProgressLine progress;
  const Rankings rankings =
      rank(*model.divergence, queries.rows, pool.rows, static_cast<Index>(request.top), progress.control());
  progress.clear();
  if (Interrupt::requested()) {
    say("bregmax: stopped by an interrupt; nothing was written");
    return kNotReached;
  }
  if (!request.out.empty()) write_file_atomically(request.out, as_csv(rankings));
  if (request.json) {
    print_json(as_json(rankings, pool.rows.rows(), request.out));
  } else if (request.out.empty()) {
    print(as_csv(rankings));
  } else {
    say(fmt::format("{}: {} ranked", request.out, count_of(queries.rows.rows(), "query", "queries")));
  }
  return kDone;
}

}  // namespace

void add_rank(CLI::App& program, Action& chosen) {
  const auto [command, request] =
      add_command(program, {"rank", "the nearest rows of a pool for each query", kRankExamples}, run_rank, chosen);
  OptionAdder options(*command);
  options.model(request->model);
  options.text("--queries", request->queries, "Q", "rows to look for: CSV, .npy or builtin:NAME")->required();
  options.text("--pool", request->pool, "P", "rows to look in")->required();
  options.whole("--top", request->top, "N", {0, 1'000'000'000}, "how many to list a query; 0: the whole pool");
  options.text("--out", request->out, "F", "write the CSV here instead of to standard output");
  options.layout(request->layout, &request->query_label);
  options.threads(request->threads);
  options.json(request->json);
}

}  // namespace bregmax::app
