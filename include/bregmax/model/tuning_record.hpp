#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax {

// One hyperparameter of a candidate: a number, or a word where `word` is not empty ("scale" "standard").
struct Setting {
  std::string name;
  double value = 0;
  std::string word = {};

  bool operator==(const Setting&) const = default;
};
using Settings = std::vector<Setting>;
const Setting* find_setting(const Settings& settings, std::string_view name);  // nullptr: no such setting

// How the hyperparameters of a model were chosen: the whole table of scores.
struct TuningRecord {
  std::string tuned_for;              // the measure that chose; one of `measures`
  int folds = 0;                      // of the cross-validation
  std::vector<std::string> measures;  // "rand_index", ..., "loss"
  std::vector<Settings> candidates;
  // candidates x measures: means over the folds, and their standard errors. NaN: not known.
  Matrix means, standard_errors;
  Index chosen = 0;  // the candidate that won; -1: none was scored yet when it ended
  // An early end leaves candidates without scores: this many were compared, each on this many folds.
  Index compared = 0;
  int compared_folds = 0;
  // Numbers of fits on folds: by a run of the solver, or by a proof that the optimum of another candidate is theirs,
  // too. `unproved` of the runs ended above their tolerance.
  Index solved = 0, proved = 0, unproved = 0;
  double seconds = 0;

  bool empty() const { return candidates.empty(); }
};

}  // namespace bregmax
