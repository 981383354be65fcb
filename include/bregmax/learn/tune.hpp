#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/status.hpp"
#include "bregmax/methods/candidates.hpp"
#include "bregmax/tasks/evaluate.hpp"

namespace bregmax {

// Chooses hyperparameters by cross-validation, for any method: candidates are learned on the training part of each fold
// and scored by every measure on the held-out part. The best mean of one measure wins.

// kAgreement: the share of held-out comparisons that hold, or the probability that a held-out similar pair is closer
// than a dissimilar one; ties count half. kR2: of the targets of held-out rows, as their nearest neighbours predict
// them.
enum class Measure { kRandIndex, kPurity, kAuc, kAveragePrecision, kKnn, kLoss, kAgreement, kR2 };
inline constexpr std::array<Measure, 8> kAllMeasures = {Measure::kRandIndex,        Measure::kPurity, Measure::kAuc,
                                                        Measure::kAveragePrecision, Measure::kKnn,    Measure::kLoss,
                                                        Measure::kAgreement,        Measure::kR2};
// "rand_index", "purity", "auc", "average_precision", "knn", "loss", "agreement"
std::string to_string(Measure measure);
Measure measure_named(const std::string& name);  // throws Error that lists the names
inline bool larger_is_better(Measure measure) { return measure != Measure::kLoss; }

// What the choice has to know of a family of candidates.
struct FamilyRole {
  int method = 0;          // families of one method compete by their means alone
  bool yardstick = false;  // scored for comparison, never chosen
  double seconds = 1;      // predicted, of a fold, relative to the other families; for the progress
};

struct TuneOptions {
  Measure tune_for = Measure::kAveragePrecision;
  EvaluationOptions evaluation = {};  // k is reduced to the number of training rows
  int threads = 0;                    // 0: as many as OpenMP may use
  double time_limit = 0;              // seconds; 0: none
  // Of each family; empty: all are of one method. Methods are numbered from the simplest to the most complex. The first
  // whose best candidate is within a standard error of the best of all is chosen.
  std::vector<FamilyRole> roles = {};
  // A file to which finished scores are appended, and whose scores are not computed again; empty: none. A file of other
  // candidates or folds (`scores_of` says of which) is begun anew.
  std::string scores_file = {};
  std::string scores_of = {};
};

struct TuneResult {
  TuningRecord record;               // candidates of all families, one after the other
  std::vector<Index> family_of;      // of each candidate
  std::vector<FamilyRole> role_of;   // of each candidate
  std::vector<Matrix> fold_scores;   // of each fold, candidates x measures; NaN: not known
  std::vector<bool> constant;        // candidates whose divergence was constant in most folds
  bool all_constant = false;         // all that are compared, so that the chosen one is, too
  Status status = Status::kOptimal;  // or kStopped, kTimeLimit: scores are missing
  // After an early end: a model of the best candidate so far, learned on the training part of one fold.
  std::optional<Model> best_so_far;
};

// A candidate whose divergence is constant (all divergences between held-out rows vanish) in most folds is chosen only
// if all that are compared are. Throws Error when the measure is not defined on any fold (too few rows of a class). The
// result does not depend on the number of threads.
TuneResult tune(const std::vector<Fold>& folds, const CandidateFamilies& families, const TuneOptions& options = {},
                const RunControl& control = {});

// The candidates that a measure compares: those with scores on the largest number of folds that a candidate other than
// a yardstick has. Normally these are all candidates on all folds; after an early end there are fewer.
struct Compared {
  int folds = 0;
  std::vector<Index> candidates = {};
};
Compared compared_candidates(const TuneResult& result, Measure measure);

// The candidate that a measure chooses, by the rules of tune(): one run of tune() serves all measures.
Index best_candidate(const TuneResult& result, Measure measure);

// Whether the first candidate is better than the second by more than the standard error of the mean difference on the
// folds that both have scores on.
bool is_clearly_better(const TuneResult& result, Index first, Index second, Measure measure);

// The best candidate of each method in a table of scores.
struct MethodScore {
  std::string method;
  Index candidate = 0;
  double mean = 0, standard_error = 0;  // of the measure that chose
  bool chosen = false;
};
// In the order of the table. Empty if the candidates do not name their methods.
std::vector<MethodScore> method_scores(const TuningRecord& record);

}  // namespace bregmax
