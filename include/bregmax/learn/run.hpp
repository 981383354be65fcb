#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/folds.hpp"

namespace bregmax {

// Something that the user should know about what was learned.
struct Finding {
  enum class Kind {
    kEarlyEnd,                // the run ended before it reached what was asked
    kConstant,                // the divergence does not tell the rows apart
    kScalesBeyondDoubles,     // features differ in scale by more than doubles hold, so that the gap stays open
    kAppliedLoss,             // applied, the model has another loss than was counted
    kNotBetterThanEuclidean,  // on held-out data nothing that was tried is clearly better
  };
  Kind kind;
  std::string cause;  // one word or two, for programs: "time_limit", "one_piece", ...
  std::string text;   // for people, in the names of the request
};
std::string to_string(Finding::Kind kind);  // "early_end", "constant", "scales_beyond_doubles", ...

// The model is learned on all rows with the chosen values, and contains the table of scores.
struct FitOutcome : MethodFit {
  double tolerance = 0;   // that was asked of the fit
  PlannedMethod planned;  // what was planned of the chosen method
  MethodSettings chosen;
  Scale chosen_scale = Scale::kStandard;
  std::optional<LabelSupervisionOptions> chosen_supervision = {};  // what labels became
  TuneResult tuning;                                               // empty table: there was a single candidate
  // Tuning ended early: the model is that of the best candidate so far on the training part of one fold, or has no
  // divergence where no candidate was scored yet.
  bool tuning_ended_early = false;
  std::vector<Finding> diagnosis = {};

  const Method& method() const { return *planned.method; }  // that was chosen
  const Finding* find(Finding::Kind kind) const;            // nullptr: no such finding
};

// Lambda weighs the Lipschitz constant against the SUM of the losses. A fold has less supervision, so lambda is scaled
// by the weight of the fold's supervision relative to that of all rows. A candidate that cannot be learned on a fold
// (its kernel overflows, say) is left out. If the final pbdl model is constant, the next best candidate is tried.
FitOutcome run(const Plan& plan, const TrainingData& data, const RunControl& control = {});

// plan() and run() in one.
FitOutcome fit(const FitRequest& request, const TrainingData& data, const RunControl& control = {});

// The candidates of a plan, for callers that run tune() on folds_of(plan) and choose by their own rules. The plan must
// outlive them.
struct PlannedFamilies {
  CandidateFamilies families;
  std::vector<FamilyRole> roles;  // of each family
};
PlannedFamilies families_of(const Plan& plan, const TrainingData& data);

}  // namespace bregmax
