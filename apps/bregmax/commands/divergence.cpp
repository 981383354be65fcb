#include "bregmax/divergence/divergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bregmax/data/matrix_writer.hpp"
#include "commands/commands.hpp"
#include "data/text.hpp"
#include "reports/row_texts.hpp"

namespace bregmax::app {
namespace {

constexpr const char* kDivergenceExamples = R"(
Examples:
  bregmax divergence wine.bregmax builtin:wine --out all.npy
  bregmax divergence wine.bregmax new.csv stored.csv --out new_to_stored.csv
  bregmax divergence wine.bregmax new.csv --label none

Row a, column b of the result is D(row a of A, row b of B). D is not symmetric.)";

struct DivergenceRequest : ModelRequest {
  std::string points, references;
};

// Computes the matrix in blocks of rows of a few megabytes.
void for_each_block(const Divergence& divergence, const Matrix& points, const Matrix& references,
                    const std::function<void(const MatrixView&)>& use) {
  constexpr Index kBlockValues = 4'000'000;
  const std::unique_ptr<ReferenceSet> prepared = divergence.prepare(references);
  const Index block_rows = std::clamp<Index>(kBlockValues / references.rows(), 1, points.rows());
  Matrix block(block_rows, references.rows());
  for (Index begin = 0; begin < points.rows(); begin += block_rows) {
    const Index count = std::min(block_rows, points.rows() - begin);
    prepared->divergences_from(points.middleRows(begin, count), block.topRows(count));
    use(block.topRows(count));
  }
}

// Where one side has no names, its rows have their numbers.
MatrixNames names_of(const Table& points, const Table& references) {
  MatrixNames names{points.names, references.names};
  if (names.rows.empty() && names.columns.empty()) return names;
  const auto number = [](std::vector<std::string>& list, Index count) {
    for (Index row = std::ssize(list); row < count; ++row) list.push_back(fmt::format("{}", row));
  };
  number(names.rows, points.features.rows());
  number(names.columns, references.features.rows());
  return names;
}

// Prints a matrix block by block.
class MatrixPrinter {
 public:
  explicit MatrixPrinter(const MatrixNames& names) : names_(names) { print(names.header()); }

  void operator()(const MatrixView& rows) {
    std::string text;
    for (const auto& row : rows.rowwise()) {
      text += names_.row_field(next_++);
      internal::append_csv_row(text, {row.data(), row.data() + row.size()});
    }
    print(text);
  }

 private:
  const MatrixNames& names_;
  Index next_ = 0;
};

ExitCode run_divergence(const DivergenceRequest& request) {
  check_outputs({{"--out", request.out}}, {{"MODEL", request.model}, {"A", request.points}, {"B", request.references}});
  const Model model = load_model(request.model);
  const ModelInput points = read_for_model(model, request.points, request.layout);
  ModelInput second;
  if (!request.references.empty()) second = read_for_model(model, request.references, request.layout);
  const Matrix& references = request.references.empty() ? points.rows : second.rows;
  const Divergence& divergence = *model.divergence;
  const Table& of_columns = request.references.empty() ? points.table : second.table;
  const MatrixNames names = names_of(points.table, of_columns);
  Json summary = {{"rows", points.rows.rows()}, {"columns", references.rows()}};
  RowTexts(points.table, "row_").add_lists_to(summary);
  RowTexts(of_columns, "column_").add_lists_to(summary);

  if (!request.out.empty()) {
    MatrixWriter writer(request.out, points.rows.rows(), references.rows(), names);
    for_each_block(divergence, points.rows, references, [&](const MatrixView& rows) { writer.append(rows); });
    writer.commit();
    summary["out"] = request.out;
    if (!request.json) {
      say(fmt::format("{}: {} x {} divergences", request.out, points.rows.rows(), references.rows()));
    }
  } else if (request.json) {
    Json list = Json::array();
    for_each_block(divergence, points.rows, references, [&](const MatrixView& rows) {
      for (const auto& row : rows.rowwise()) list.push_back(std::vector<double>(row.begin(), row.end()));
    });
    summary["divergences"] = std::move(list);
  } else {
    MatrixPrinter printer(names);
    for_each_block(divergence, points.rows, references, [&](const MatrixView& rows) { printer(rows); });
  }
  if (request.json) print_json(summary);
  return kDone;
}

}  // namespace

void add_divergence(CLI::App& program, Action& chosen) {
  auto [options, request] = add_command(
      program, {"divergence", "the matrix of D(row of A, row of B)", kDivergenceExamples}, run_divergence, chosen);
  options.model(request->model);
  options.text("A", request->points, "", "points, the first argument: CSV, .npy or builtin:NAME")->required();
  options.text("B", request->references, "", "references, the second argument; A when left out");
  options.rest(*request,
               "write here instead of to standard output: .npy, or .csv, which has a header and a first column if rows "
               "have names");
}

}  // namespace bregmax::app
