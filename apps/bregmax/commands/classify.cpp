#include <fmt/format.h>

#include "bregmax/tasks/nearest_neighbours.hpp"
#include "commands/commands.hpp"
#include "data/text.hpp"
#include "reports/row_texts.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kClassifyExamples = R"(
Examples:
  bregmax classify wine.bregmax --train builtin:wine --queries new.csv
  bregmax classify wine.bregmax --train train.csv --queries test.csv -k 7 --out predicted.csv

The k rows of smallest D(query, row) vote; rows that tie with the k-th share the votes that are left. If the queries
have labels, the accuracy is printed on standard error.)";

struct ClassifyRequest : ModelRequest {
  std::string train, queries, query_label;
  Index k = 5;
};

std::string classes_as_csv(const Classification& result, const std::vector<std::string>& classes,
                           const RowTexts& of_query) {
  std::string text = "row,predicted,share" + of_query.csv_header() + "\n";
  for (std::size_t row = 0; row < result.predicted.size(); ++row) {
    text += fmt::format("{},{},", row, internal::csv_field(classes[result.predicted[row]]));
    internal::append_exact_number(text, result.share[row]);
    text += of_query.csv_fields(static_cast<Index>(row)) + '\n';
  }
  return text;
}

Json classes_as_json(const Classification& result, const std::vector<std::string>& classes, const RowTexts& of_query) {
  Json predicted = Json::array();
  for (const int number : result.predicted) predicted.push_back(classes[number]);
  Json object = {{"predicted", std::move(predicted)}, {"share", result.share}};
  of_query.add_lists_to(object);
  return object;
}

ExitCode run_classify(const ClassifyRequest& request) {
  check_outputs({{"--out", request.out}},
                {{"MODEL", request.model}, {"--train", request.train}, {"--queries", request.queries}});
  const Model model = load_model(request.model);
  check_predicts_classes(model, request.model, request.layout);
  const ModelInput train = read_labelled(model, request.train, request.layout);
  const ModelInput queries = read_for_model(model, request.queries, request.layout, request.query_label);
  internal::check_range(request.k, 1, train.rows.rows(), "-k", "the number of training rows");
  const SharedClasses classes = share_classes(*train.table.labels, queries.table.labels.value_or(Labels{}));
  const Classification result = classify_nearest(*model.divergence, train.rows, classes.first, queries.rows, request.k);
  const double accuracy =
      queries.table.labels ? expected_accuracy(result, classes.second) : std::numeric_limits<double>::quiet_NaN();
  const RowTexts of_query(queries.table);
  print_rows(
      request.out, request.json, [&] { return classes_as_csv(result, classes.names, of_query); },
      {{"queries", result.predicted.size()}, {"k", request.k}, {"accuracy", accuracy}},
      [&] { return classes_as_json(result, classes.names, of_query); });
  if (!request.json && queries.table.labels) {
    say(fmt::format("against column {}: accuracy {:.4f}", queries.table.labels->column, accuracy));
  }
  return kDone;
}

}  // namespace

void add_classify(CLI::App& program, Action& chosen) {
  auto [options, request] =
      add_command(program, {"classify", "the class of each query by its nearest neighbours", kClassifyExamples},
                  run_classify, chosen);
  options.model(request->model);
  options.text("--train", request->train, "T", "rows with labels: CSV, .npy or builtin:NAME")->required();
  options.text("--queries", request->queries, "Q", "rows to classify, with or without labels")->required();
  options.whole("-k", request->k, "K", {1, 1'000'000'000}, "neighbours that vote, at most the number of training rows");
  options.rest(*request, kCsvOutput, &request->query_label);
}

}  // namespace bregmax::app
