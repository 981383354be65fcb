#include "bregmax/divergence/divergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bregmax/data/matrix_writer.hpp"
#include "commands/commands.hpp"
#include "data/text.hpp"

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

void print_matrix_rows(const MatrixView& rows) {
  std::string text;
  for (const auto& row : rows.rowwise()) internal::append_csv_row(text, {row.data(), row.data() + row.size()});
  print(text);
}

ExitCode run_divergence(const DivergenceRequest& request) {
  check_outputs({{"--out", request.out}}, {{"MODEL", request.model}, {"A", request.points}, {"B", request.references}});
  const Model model = load_model(request.model);
  const ModelInput points = read_for_model(model, request.points, request.layout);
  ModelInput second;
  if (!request.references.empty()) second = read_for_model(model, request.references, request.layout);
  const Matrix& references = request.references.empty() ? points.rows : second.rows;
  const Divergence& divergence = *model.divergence;
  Json summary = {{"rows", points.rows.rows()}, {"columns", references.rows()}};

  if (!request.out.empty()) {
    MatrixWriter writer(request.out, points.rows.rows(), references.rows());
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
    for_each_block(divergence, points.rows, references, print_matrix_rows);
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
  options.rest(*request, "write here instead of to standard output: .npy or .csv without a header");
}

}  // namespace bregmax::app
