#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "bregmax/learn/fit_request.hpp"

namespace bregmax {

// What is tried of one method: every combination of the lists is a candidate.
struct PlannedMethod {
  const Method* method = nullptr;
  MethodSettings settings = {};  // of the final fit; a parameter that is named here is fixed to this value
  std::map<std::string, std::vector<double>> tried = {};  // values of further parameters
  std::vector<Scale> scales = {Scale::kStandard};
  // What labels become; empty: the method learns from the labels themselves, or from given items.
  std::vector<LabelSupervisionOptions> supervision = {};
  double fold_tolerance = 1e-3;  // of fits on folds, unless that of the final fit is larger
  bool yardstick = false;        // scored for comparison, never chosen
  // Predicted processor seconds of its fits on folds, and of a fit on all rows; NaN: not known.
  double seconds_of_folds = std::numeric_limits<double>::quiet_NaN();
  double seconds_of_scores = 0;  // of its models on folds
  double seconds_of_fit = std::numeric_limits<double>::quiet_NaN();

  Index candidates() const;
  std::vector<double> values(const std::string& parameter) const;  // those that are tried, or the only one
};

// What will be tried, and how the choice is made.
struct Plan {
  // From the simplest to the most complex: of methods that score alike the first is taken.
  std::vector<PlannedMethod> methods = {};
  bool automatic = false;               // the method is to be chosen, too
  std::vector<std::string> notes = {};  // what the user should know before the work: methods left out, and why
  std::uint64_t seed = 0;
  double time_limit = 0;  // seconds, of tuning and the final fit together; 0: none

  bool labelled = false;         // so that folds are of rows, not of items; those of a number per row are, too
  Index target_pairs = 0;        // > 0: this many pairs of rows are drawn, to learn the differences of their numbers
  bool both_directions = false;  // given pairs are learned from, and scored, in both: see in_both_directions()
  Measure tune_for = Measure::kAveragePrecision;
  int folds = 3;                  // 2 .. rows; fewer are made where the classes are too small for so many
  int repeats = 1;                // >= 1: cross-validations, each with a different division; not from given items
  Index tuning_rows = 0;          // tuning uses this many rows, drawn at random, and those that items name; 0: all
  Index tuning_comparisons = 0;   // at most, per fold, if tuning_rows > 0
  double proof_tolerance = 1e-3;  // of the proofs that replace fits on folds
  EvaluationOptions evaluation = {};
  // Scores of candidates are kept in this file as they are found, and those that it has are not computed again; empty:
  // none. The caller removes it when the model is saved.
  std::string scores_file = {};
  Names names = {};

  bool has_choice() const;  // more than one candidate, so that cross-validation has to choose
  // The method that will be learned, unless it is to be chosen; then the simplest.
  const PlannedMethod& main() const { return methods.front(); }

  // The whole plan in words, one entry per line of to_text().
  struct Field {
    std::string name;
    std::vector<std::string> values;
  };
  std::vector<Field> fields() const;
  std::string to_text() const;
  // Seconds on this many threads, roughly; NaN: not known. The last fit runs on one thread.
  double predicted_seconds(int threads = 1) const;
  // A few lines for the user to see before the work: methods, candidates and the predicted time.
  std::string summary(int threads) const;
};

// All defaults are decided here (docs/accuracy.md has the measurements behind them). Method `auto` is pbdl if the
// request has anything that only pbdl knows. Otherwise the Euclidean distance, smooth, pbdl and deep compete, pbdl only
// where its cross-validation is short. For pbdl, lambda is tuned unless it is given or the supervision consists of
// targets (then it is 0, as in the paper). The smoothing is tuned with it, but not for targets or by the loss: losses
// at different smoothings cannot be compared. Throws Error if the wishes contradict each other or the data.
Plan plan(const FitRequest& request, const TrainingData& data);

}  // namespace bregmax
