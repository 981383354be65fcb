#include <fmt/format.h>

#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/scores.hpp"
#include "commands/commands.hpp"
#include "data/text.hpp"
#include "reports/row_texts.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kPredictExamples = R"(
Examples:
  bregmax fit patients.csv --target progression --out patients.bregmax
  bregmax predict patients.bregmax --train patients.csv --queries new.csv
  bregmax predict patients.bregmax --train train.csv --queries test.csv -k 10 --out predicted.csv

The mean target of the k rows of smallest D(query, row); rows that tie with the k-th share the weight that is left. If
the queries have targets, scores of the predictions are printed on standard error.)";

struct PredictRequest : ModelRequest {
  std::string train, queries;
  Index k = 5;
};

std::string numbers_as_csv(const Vector& predicted, const RowTexts& of_query) {
  std::string text = "row,predicted" + of_query.csv_header() + "\n";
  for (Index row = 0; row < predicted.size(); ++row) {
    text += fmt::format("{},", row);
    internal::append_exact_number(text, predicted(row));
    text += of_query.csv_fields(row) + '\n';
  }
  return text;
}

Json numbers_as_json(const Vector& predicted, const RowTexts& of_query) {
  Json object = {{"predicted", std::vector<double>(predicted.begin(), predicted.end())}};
  of_query.add_lists_to(object);
  return object;
}

ModelInput read_queries(const Model& model, const PredictRequest& request) {
  TableOptions layout = request.layout;
  layout.target_optional = true;
  return read_for_model(model, request.queries, layout);
}

ExitCode run_predict(const PredictRequest& request) {
  check_outputs({{"--out", request.out}},
                {{"MODEL", request.model}, {"--train", request.train}, {"--queries", request.queries}});
  const Model model = load_model(request.model);
  check_predicts_numbers(model, request.model, request.layout);
  const ModelInput train = read_with_target(model, request.train, request.layout);
  const ModelInput queries = read_queries(model, request);
  internal::check_range(request.k, 1, train.rows.rows(), "-k", "the number of training rows");
  const Vector predicted = regress_nearest(*model.divergence, train.rows, *train.table.target, queries.rows, request.k);
  const auto& actual = queries.table.target;
  const RegressionScores scores = actual ? regression_scores(*actual, predicted) : RegressionScores();
  const RowTexts of_query(queries.table);
  print_rows(
      request.out, request.json, [&] { return numbers_as_csv(predicted, of_query); },
      {{"queries", predicted.size()},
       {"k", request.k},
       {"target", name_of_target(model, request.layout)},
       {"r2", scores.r2},
       {"mean_absolute_error", scores.mean_absolute_error},
       {"rank_correlation", scores.rank_correlation}},
      [&] { return numbers_as_json(predicted, of_query); });
  if (!request.json && actual) {
    say(fmt::format("against the targets of the queries: R2 {:.4f}, mean absolute error {}, rank correlation {:.4f}",
                    scores.r2, short_number(scores.mean_absolute_error), scores.rank_correlation));
  }
  return kDone;
}

}  // namespace

void add_predict(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program, {"predict", "the number of each query by its nearest neighbours", kPredictExamples},
                  run_predict, chosen);
  options.model(request->model);
  options.text("--train", request->train, "T", "rows with a target: CSV, .npy or builtin:NAME")->required();
  options.text("--queries", request->queries, "Q", "rows to predict the target of, with or without it")->required();
  options.target(request->layout.target, "the column that the model was learned from");
  options.whole("-k", request->k, "K", {1, 1'000'000'000},
                "neighbours whose targets are averaged, at most the number of training rows");
  options.rest(*request, kCsvOutput);
}

}  // namespace bregmax::app
