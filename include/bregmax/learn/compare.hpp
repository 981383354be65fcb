#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/run.hpp"

namespace bregmax {

// Which method is good for the user's data? Nested cross-validation: on each fold every method chooses its settings
// within the training part, by a cross-validation of its own, as fit() would, and is then scored on the held-out part,
// which no choice has seen. So the scores are not those of the best of many candidates, which would be too good.

struct CompareRequest {
  // Names of all_methods() and "auto", which is what fit() takes by default; "all": all that can learn from the
  // supervision. Empty: the same without those that are predicted to take long. The Euclidean distance is added.
  std::vector<std::string> methods = {};
  std::vector<Scale> scales = {};        // that each method chooses from; empty: standard
  std::optional<Measure> tune_for = {};  // by which methods choose their settings
  std::optional<int> folds = {};         // none: 5 from labels; of items the first 5 of up to 10
  int repeats = 1;                       // >= 1: cross-validations, each with other folds; from labels only
  bool directed_pairs = false;           // as in FitRequest
  Index rows = 5000;                     // of larger tables with labels this many, drawn at random; 0: all
  double long_seconds = 60;              // predicted processor seconds beyond which a method takes long
  double time_limit = 0;                 // seconds, of everything together; 0: none
  std::uint64_t seed = 0;
  PlanThresholds thresholds = {};
  Names names = {};
};

struct ComparePlan {
  struct Entry {
    std::string method;
    Index candidates = 1;
    double seconds = 0;    // predicted processor seconds on all folds; NaN: not known
    bool of_auto = false;  // auto chooses from it
  };
  std::vector<Entry> methods = {};      // the rows of the table, in their order
  std::vector<std::string> notes = {};  // what the user should know before the work: methods left out, and why
  std::vector<Measure> measures = {};   // the columns
  Plan outer = {};                      // the division into folds
  int folds = 0;                        // on which methods are scored: the first of these
  CompareRequest request = {};
  // Finished runs are appended to this file, a line per method and fold, and those that it has are not made again;
  // empty: none. A file of something else is refused.
  std::string results_file = {};

  std::vector<std::string> members_of_auto() const;
  // Seconds on this many threads, roughly; NaN: not known.
  double predicted_seconds(int threads = 1) const;
  // A few lines for the user to see before the work.
  std::string summary(int threads) const;
};

// Throws Error if a method does not exist or cannot learn from the supervision, or if there is too little of it.
ComparePlan plan_comparison(const CompareRequest& request, const TrainingData& data);

// One row of the table.
struct ComparedMethod {
  struct Failure {
    int fold = 0;
    std::string reason;
  };
  std::string method;
  int folds = 0;          // on which it has been scored
  int constant = 0;       // of these: the divergence told no rows apart
  int not_converged = 0;  // the same: its last fit ended before it reached its tolerance
  // Means over these folds: wall time on one thread of the last fit and of the choice of settings before it.
  double seconds_of_fit = std::numeric_limits<double>::quiet_NaN();
  double seconds_of_choice = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> settings = {};  // that were chosen on each fold; empty: none, or not run
  std::vector<Failure> failures = {};      // folds on which it could not be learned
};

struct MethodTable {
  std::vector<Measure> measures;        // columns
  std::vector<ComparedMethod> methods;  // rows, from the simplest on
  std::vector<Matrix> fold_scores;      // of each fold, methods x measures; NaN: not known
  Matrix means, standard_errors;        // methods x measures, over the folds that are known
  std::vector<Index> best;              // of each measure: the method with the best mean; -1: none
  // Of each measure and method: whether the best is not better by more than the standard error of the difference on
  // the folds. Only methods that are scored on the largest number of folds take part.
  std::vector<std::vector<bool>> as_good;
  Status status = Status::kOptimal;  // or kStopped, kTimeLimit: runs are missing
  int runs = 0, done = 0;            // methods times folds; those that failed are done
  int from_file = 0;                 // of these: taken from the results file
  double seconds = 0;

  std::string to_text() const;
};

// Throws Error if the results file exists and is not of this comparison; compare() does that, too.
void check_results_file(const ComparePlan& plan, const TrainingData& data);

// The result does not depend on the number of threads (0: as many as OpenMP may use), except for the times. A method
// that fails on a fold is reported in its row.
MethodTable compare(const ComparePlan& plan, const TrainingData& data, int threads = 0, const RunControl& control = {});

}  // namespace bregmax
