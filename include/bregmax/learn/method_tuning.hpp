#pragma once

#include <map>
#include <string>
#include <vector>

#include "bregmax/learn/fit.hpp"
#include "bregmax/learn/tune.hpp"
#include "bregmax/methods/registry.hpp"

namespace bregmax {

// The parameters of the classical methods (bregmax/methods/registry.hpp), chosen by cross-validation from labels.
struct MethodFitOptions {
  // Parameters that are named here have this value and no other. Tolerance and iterations are those of the last fit;
  // the time limit covers tuning and the last fit together. The seed is that of the folds and of the method.
  MethodSettings settings = {};
  // Values to try of further parameters; among equal scores the first wins. A parameter that is named neither here nor
  // in `settings` is tried on its own grid where the method's declaration says `tuned`, else it has its standard value.
  std::map<std::string, std::vector<double>> tried = {};
  std::vector<Scale> scales = {Scale::kStandard};
  bool all_pairs = false;  // learn from all ordered pairs of rows instead of from the labels themselves
  Measure tune_for = Measure::kAveragePrecision;
  int folds = 3;                   // 2 .. rows; fewer are made where the classes are too small for so many
  int repeats = 1;                 // >= 1: so many cross-validations, each with folds of its own
  double tuning_tolerance = 1e-3;  // of the fits on folds, where the method's own is tighter
  EvaluationOptions evaluation = {};
};

// As recommended_options() has it: how often small tables are cross-validated, and how clusterings begin.
MethodFitOptions recommended_method_options(Index rows);

// The values that are tried of each tuned parameter, in the order of the method's parameters. Throws Error on a name
// that the method has not, on a value that is not allowed and on a parameter that is both given and tried.
std::vector<std::pair<std::string, std::vector<double>>> tuned_parameters(const Method& method,
                                                                          const MethodFitOptions& options);
// Is there anything to choose?
bool has_choice(const Method& method, const MethodFitOptions& options);

// Every combination of scale and tried values is a candidate; all are one family. For callers who bring folds of their
// own to tune().
CandidateFamilies method_families(const Method& method, const MethodFitOptions& options);

struct MethodFitResult {
  MethodFit fit;          // learned on all rows with the values that were chosen; has the table of scores, too
  MethodSettings chosen;  // the settings of that fit
  Scale chosen_scale = Scale::kStandard;
  TuneResult tuning;  // empty table: there was a single candidate
  // Tuning ended early: fit.model is that of the best candidate so far on the training part of one fold, or has no
  // divergence where no candidate was scored yet.
  bool tuning_ended_early = false;
};

// Rows are not scaled. A candidate that cannot be learned on a fold (its kernel overflows, for example) is left out.
MethodFitResult fit_method_from_labels(const Method& method, const MatrixView& rows,
                                       const std::vector<int>& class_of_row, const MethodFitOptions& options = {},
                                       const RunControl& control = {});

// The same from supervision that is given. There is nothing to choose by: `options` has one scale and nothing to try,
// and what is not given has its standard value.
MethodFitResult fit_method_from_items(const Method& method, const MatrixView& rows, const MethodSupervision& items,
                                      const MethodFitOptions& options = {}, const RunControl& control = {});

}  // namespace bregmax
