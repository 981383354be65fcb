#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/data/table.hpp"
#include "bregmax/learn/run.hpp"
#include "paper/published.hpp"

namespace bregmax {

inline constexpr double kTrainFraction = 2.0 / 3;  // of the rows, to learn from

// The paper's protocol. A run learns from two thirds of the rows, drawn at random, and scores on the others. The
// hyperparameters of a method are chosen by 3-fold cross-validation on the training part, for each measure separately.

// A row of a table: a method and how it is used.
struct ProtocolRow {
  std::string name;   // "pbdl", "pbdl-smoothed", "itml", ...: also in files of results
  std::string title;  // "PBDL, smoothed"
  std::string group;  // rows of one group share their fits and are learned together
  // A row of the paper, one of our own on the paper's protocol, or what a method does by default.
  enum class Of { kPaper, kOurs, kDefaults } of;
  KMeansStart start;  // of k-means, unless the request names another
  double effort;      // rough seconds of a run on 1000 rows, to estimate the time that is left
};

const std::vector<ProtocolRow>& protocol_rows();
// Throws Error that lists the names.
const ProtocolRow& protocol_row(const std::string& name);

// The paper's way: raw features, one cross-validation; for pbdl 2000 comparisons and no smoothing.
FitRequest paper_request(const std::string& method, std::uint64_t seed);

// The number of the random stream that belongs to a name, the same on every machine (FNV-1a).
constexpr std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

// Fractions.
struct RunScores {
  TableScores per_measure;  // each by the model that was chosen for this measure, as in the paper
  TableScores one_model;    // all by the model that was chosen for average precision
  std::string note;         // what was chosen, and anything that went wrong
};

struct RunRequest {
  std::string dataset;  // its name is part of the seed
  int run = 0;          // >= 0
  std::uint64_t seed = 0;
  KMeansStart start = KMeansStart::kEuclidean;
};

// One run of rows of one group; the split is the same for all groups. The scores of a row depend on the request and the
// table, but not on the other rows. Single threaded. When stopped, the result is empty.
std::vector<RunScores> run_protocol(const Table& table, const std::vector<ProtocolRow>& rows, const RunRequest& request,
                                    const RunControl& control = {});

}  // namespace bregmax
