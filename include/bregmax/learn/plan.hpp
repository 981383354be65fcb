#pragma once

#include <map>
#include <string>
#include <vector>

#include "bregmax/learn/fit_request.hpp"

namespace bregmax {

// What will be tried, and how the choice is made. Every combination of the lists is a candidate.
struct Plan {
  const Method* method = nullptr;
  MethodSettings settings;  // of the final fit; a parameter that is named here is fixed to this value
  std::map<std::string, std::vector<double>> tried = {};  // values of further parameters
  std::vector<Scale> scales = {Scale::kStandard};
  // What labels become; empty: the method learns from the labels themselves, or from given items.
  std::vector<LabelSupervisionOptions> supervision = {};

  bool labelled = false;  // so that folds are of rows, not of items
  Measure tune_for = Measure::kAveragePrecision;
  int folds = 3;                  // 2 .. rows; fewer are made where the classes are too small for so many
  int repeats = 1;                // >= 1: cross-validations, each with a different division; from labels only
  Index tuning_rows = 0;          // tuning uses this many rows, drawn at random; 0: all of them
  Index tuning_comparisons = 0;   // at most, per fold, if tuning_rows > 0
  double fold_tolerance = 1e-3;   // of fits on folds, unless that of the final fit is larger
  double proof_tolerance = 1e-3;  // of the proofs that replace fits on folds
  EvaluationOptions evaluation = {};
  Names names = {};

  bool has_choice() const;  // more than one candidate, so that cross-validation has to choose
  std::vector<double> values(const std::string& parameter) const;  // those that are tried, or the only one

  // The whole plan in words, one entry per line of to_text().
  struct Field {
    std::string name;
    std::vector<std::string> values;
  };
  std::vector<Field> fields() const;
  std::string to_text() const;
};

// All defaults are decided here (docs/accuracy.md has the measurements behind them). For pbdl, lambda is tuned unless
// it is given or the supervision consists of targets (then it is 0, as in the paper). The smoothing is tuned with it,
// but not for targets or by the loss: losses at different smoothings cannot be compared. Throws Error if the wishes
// contradict each other or the data.
Plan plan(const FitRequest& request, const TrainingData& data);

}  // namespace bregmax
