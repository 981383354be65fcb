#pragma once

#include <vector>

#include "bregmax/learn/fit.hpp"
#include "bregmax/learn/tune.hpp"
#include "bregmax/supervision/sample.hpp"

namespace bregmax {

std::vector<double> default_lambdas();  // 10^-8, 10^-7, ..., 10^4
// The same for all pairs, whose losses are a sum over n^2 pairs and not over some thousand items: 10^-4, ..., 10^6.
std::vector<double> all_pairs_lambdas();
std::vector<double> default_temperatures();  // 0 (the paper's method), 0.03, 0.1, ..., 10

// What is tried; one value means that it is not tuned. Every combination is a candidate.
struct AutoFitOptions {
  std::vector<double> lambdas = default_lambdas();            // ascending, >= 0
  std::vector<double> temperatures = default_temperatures();  // ascending, >= 0; needs no further fits
  std::vector<int> pieces = {0};                              // as FitOptions::pieces
  std::vector<Scale> scales = {Scale::kStandard};
  std::vector<LabelSupervisionOptions> supervision = {LabelSupervisionOptions{}};  // of fit_from_labels
  Measure tune_for = Measure::kAveragePrecision;
  int folds = 3;    // 2 .. rows; fewer are made where the classes are too small for so many
  int repeats = 1;  // >= 1: so many cross-validations, each with folds of its own; of rows only
  // Of larger tables with labels, choosing looks at so many rows, drawn at random, and at that many comparisons a fold;
  // >= 10 and >= 1.
  Index tuning_rows = 5000, tuning_comparisons = 10'000;
  // The fits on folds: relative gap of the solver, and of the proofs that replace it (see docs/design.md).
  double tuning_tolerance = 1e-4, proof_tolerance = 1e-3;
  EvaluationOptions evaluation = {};
  // All else. lambda, smoothing, pieces and scale are taken from the lists above. The time limit covers tuning and the
  // last fit together.
  FitOptions fit = {};
};

// What `bregmax fit` does with labels where nothing else is said, for this many rows (docs/accuracy.md has the
// measurements behind it): all pairs of standardised rows, or 2000 comparisons where there are more than
// kMostRowsForAllPairs rows; small tables are cross-validated several times, since one division into folds says little.
inline constexpr Index kMostRowsForAllPairs = 1500;
// Beyond, a piece for each row is too much where nothing else is said, and a few numbers of pieces are tried.
inline constexpr Index kMostRowsWithOwnPieces = 20'000;
AutoFitOptions recommended_options(Index rows);

struct AutoFitResult {
  FitResult fit;      // learned on all rows with the values that were chosen; has the table of scores, too
  FitOptions chosen;  // the options of that fit
  LabelSupervisionOptions chosen_supervision;
  TuneResult tuning;  // empty table: there was a single candidate
  // Tuning ended early: fit.model is that of the best candidate so far on the training part of one fold, or has no
  // divergence where no candidate was scored yet.
  bool tuning_ended_early = false;
};

// Rows are not scaled. Lambda is a price on the Lipschitz constant against the SUM of the losses: on a fold, which has
// less supervision, it is scaled by the weight of the fold's supervision over that of all.
AutoFitResult fit_from_labels(const MatrixView& rows, const std::vector<int>& class_of_row,
                              const AutoFitOptions& options = {}, const RunControl& control = {});

// The candidates that fit_from_labels chooses from, for callers who bring folds of their own to tune().
CandidateFamilies families_from_labels(const MatrixView& rows, const std::vector<int>& class_of_row,
                                       const AutoFitOptions& options);

// From given supervision: folds are made of its items, and `tune_for` must be kLoss if there is more than one
// candidate.
//
// Both: where the chosen candidate turns out constant on all items, the best of those that may not be is taken instead.
AutoFitResult fit_from_items(const MatrixView& rows, const Supervision& supervision, const AutoFitOptions& options,
                             const RunControl& control = {});

// The folds that fit_from_labels uses: as many as asked for, but no more than leave two rows of every class of three
// rows or more together in one fold; at least two. Throws Error where even that cannot be.
int usable_folds(const std::vector<int>& class_of_row, int folds);

}  // namespace bregmax
