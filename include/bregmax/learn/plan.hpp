#pragma once

#include <map>
#include <string>
#include <vector>

#include "bregmax/learn/fit_request.hpp"

namespace bregmax {

// What will be tried, and how it is chosen from. Every combination of the lists is a candidate.
struct Plan {
  const Method* method = nullptr;
  MethodSettings settings;  // of the last fit; parameters that are named here have this value and no other
  std::map<std::string, std::vector<double>> tried = {};  // values of further parameters
  std::vector<Scale> scales = {Scale::kStandard};
  // What labels become; empty: the method learns from the labels themselves, or from given items.
  std::vector<LabelSupervisionOptions> supervision = {};

  Measure tune_for = Measure::kAveragePrecision;
  int folds = 3;          // 2 .. rows; fewer are made where the classes are too small for so many
  int repeats = 1;        // >= 1: so many cross-validations, each with folds of its own; of rows only
  Index tuning_rows = 0;  // choosing looks at so many rows, drawn at random; 0: at all of them
  Index tuning_comparisons = 0;
  double fold_tolerance = 1e-3;   // of the fits on folds, where the last one's is tighter
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

// All defaults are decided here (docs/accuracy.md has the measurements behind them). For pbdl, lambda is chosen unless
// it is given, or the supervision are targets (for which the paper puts no price on the Lipschitz constant: 0). The
// smoothing is chosen with it where labels say what is good: losses do not compare across smoothings.
// Throws Error on a mistake that shows in the combination of the wishes, or relative to the data.
Plan plan(const FitRequest& request, const TrainingData& data);

}  // namespace bregmax
