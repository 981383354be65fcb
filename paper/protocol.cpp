#include "paper/protocol.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bregmax/core/error.hpp"
#include "bregmax/data/split.hpp"
#include "paper/method_runs.hpp"
#include "paper/pbdl_runs.hpp"
#include "paper/stream.hpp"

namespace bregmax {
namespace {

constexpr std::uint64_t kSplitStream = 1;

}  // namespace

const std::vector<ProtocolRow>& protocol_rows() {
  constexpr auto kPaper = KMeansStart::kEuclidean;
  static const std::vector<ProtocolRow> kRows = {
      {"pbdl", "PBDL", "pbdl-raw", true, kPaper, 60},
      {"itml", "ITML", "itml", true, kPaper, 10},
      {"lmnn", "LMNN", "lmnn", true, kPaper, 20},
      {"gb-lmnn", "GB-LMNN", "gb-lmnn", true, kPaper, 60},
      {"gmml", "GMML", "gmml", true, kPaper, 1},
      {"nca", "NCA, diagonal", "nca", true, kPaper, 2},
      {"kernel-nca", "kernel NCA", "kernel-nca", true, kPaper, 30},
      {"mlr-auc", "MLR-AUC", "mlr-auc", true, kPaper, 60},
      {"euclidean", "Euclidean", "euclidean", true, kPaper, 0.1},
      {"pbdl-smoothed", "PBDL, smoothed", "pbdl-raw", false, kPaper, 60},
      {"pbdl-standardised", "PBDL, standardised, smoothed", "pbdl-standardised", false, kPaper, 80},
      {"pbdl-few-pieces", "PBDL, K < n", "pbdl-few-pieces", false, kPaper, 60},
      {"defaults", "bregmax fit, defaults", "defaults", false, KMeansStart::kDivergence, 80},
  };
  return kRows;
}

const ProtocolRow& protocol_row(const std::string& name) {
  std::vector<std::string> names;
  for (const ProtocolRow& row : protocol_rows()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  throw Error(fmt::format("there is no method '{}' in the tables; allowed: {}", name, fmt::join(names, ", ")));
}

std::vector<RunScores> run_protocol(const Table& table, const std::vector<ProtocolRow>& rows, const RunRequest& request,
                                    const RunControl& control) {
  if (!table.labels) throw Error(fmt::format("{}: the protocol needs labels, and there are none", table.source));
  if (request.run < 0) throw Error(fmt::format("run is {}; allowed: 0 or more", request.run));
  if (rows.empty()) throw Error("there are no rows to run; at least one is needed");
  for (const ProtocolRow& row : rows) {
    if (row.group != rows.front().group) {
      throw Error(fmt::format("{} and {} are not learned together", rows.front().name, row.name));
    }
  }
  const Random of_run =
      Random(request.seed).fork(internal::stream_of(request.dataset)).fork(static_cast<std::uint64_t>(request.run));
  Random of_split = of_run.fork(kSplitStream);
  const Split split = random_split(table.features.rows(), kTrainFraction, of_split);
  const Table train = select_rows(table, split.train), test = select_rows(table, split.test);
  internal::RunParts parts{train.features,
                           train.labels->of_row,
                           test.features,
                           test.labels->of_row,
                           of_run.fork(internal::stream_of(rows.front().group)).next_bits(),
                           {}};
  parts.evaluation.start = request.start;
  parts.evaluation.seed = parts.seed;
  return internal::is_pbdl_group(rows.front().group) ? internal::run_pbdl_rows(rows, parts, control)
                                                     : internal::run_method_rows(rows, parts, control);
}

}  // namespace bregmax
