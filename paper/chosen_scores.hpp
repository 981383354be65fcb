#pragma once

// What the runs of all methods have in common: choosing on folds, and scoring what was chosen on the test part.

#include <functional>

#include "paper/protocol.hpp"

namespace bregmax::internal {

// The data of a run, and the seed of all that is random in it but the split.
struct RunParts {
  const Matrix& train_rows;
  const std::vector<int>& train_classes;
  const Matrix& test_rows;
  const std::vector<int>& test_classes;
  std::uint64_t seed = 0;
  EvaluationOptions evaluation = {};
};

// The paper's way: raw features, one cross-validation; for pbdl 2000 comparisons and no smoothing.
FitRequest paper_request(const std::string& method, std::uint64_t seed);

std::string settings_text(const Settings& settings);

// The training part as a fold whose held-out part is the test part: tune() then learns as the last fit of a method does
// and scores on the test part by all measures.
Fold whole_run(const RunParts& parts);

// The candidates for which `keep` holds, with their scores: best_candidate() then chooses among them only.
TuneResult restricted(const TuneResult& result, const std::function<bool(const Settings&)>& keep);

// The candidates that the five measures choose, in the order of kTableMeasures.
std::vector<Settings> chosen_settings(const TuneResult& cross);

// Test scores of the candidates of a run of tune() on whole_run().
TableScores scores_of(const TuneResult& whole, const Settings& settings);

// Puts together the cells of a row. `whole` has every settings of `chosen`.
RunScores row_scores(const std::vector<Settings>& chosen, const TuneResult& whole);

}  // namespace bregmax::internal
