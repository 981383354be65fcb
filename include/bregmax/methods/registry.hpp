#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bregmax/data/scaling.hpp"
#include "bregmax/methods/candidates.hpp"
#include "bregmax/methods/learned.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/optimize/admm.hpp"

namespace bregmax {

// A parameter of a method. All values are doubles: a whole number has no fraction, and a name is its position in
// `choices`.
struct MethodParameter {
  std::string name;
  std::string help;
  double standard = 0;  // the default
  double low = 0, high = std::numeric_limits<double>::infinity();
  bool low_included = true;  // is `low` itself allowed?
  bool whole = false;
  std::vector<std::string> choices = {};
  std::vector<double> grid = {};  // what tuning tries; of equal scores the first wins; empty: it cannot be tuned
  bool tuned = false;             // tuned by default if no value is given; for pbdl plan() decides
  bool tuned_from_items = false;  // the same, but not from labels
  bool of_shape = false;          // fixed by the model that a run goes on from
  // A word for one value outside the range: "all" for 0 pieces, "none" for an infinite bound.
  std::optional<std::pair<std::string, double>> word = {};

  std::string allowed() const;           // for messages: "a number > 0", "rbf or polynomial"
  std::string text(double value) const;  // as a user writes it: a choice by its name
  // Throws Error that names the parameter when the text is not one of the allowed values.
  double parse(const std::string& text) const;
  void check(double value) const;
  void check_number(double value) const;  // the same, but the value of the word is not allowed
};

enum class Solver { kAuto, kExact, kAdmm };  // auto: by the predicted cost of the exact solver
std::string to_string(Solver solver);        // "auto", "exact", "admm"

// Which solver runs, with how much memory, and what it does besides. The choice of solvers is for pbdl, the rest for
// the solver admm and for methods that are resumable.
struct SolverSettings {
  Solver solver = Solver::kAuto;
  // `auto` takes admm if the exact solver is predicted to need more than exact_seconds (on folds: fold_seconds) or more
  // than memory_limit.
  double exact_seconds = 600, fold_seconds = 60;
  double memory_limit = 0;  // bytes, >= 0; 0: none
  StoragePrecision precision = StoragePrecision::kDouble;
  std::string checkpoint = {}, resume = {};  // files with the state of the run; empty: none
  double checkpoint_every = 60;              // seconds; 0: every iteration
  bool early_stop = false;  // holds out a fifth of the items or rows and ends when their loss no longer falls

  bool asks_to_resume() const { return !checkpoint.empty() || !resume.empty() || early_stop; }
};

// What is asked of a run. Parameters that are not named keep their defaults.
struct MethodSettings {
  std::map<std::string, double> parameters = {};
  std::optional<double> tolerance = {};    // none: the method's own
  std::optional<int> max_iterations = {};  // none: the method's own
  double time_limit = 0;                   // seconds; 0: none
  std::uint64_t seed = 0;
  std::optional<std::vector<int>> piece_of = {};  // of each row, for methods with affine pieces
  // To go on from, for methods that can: a model of the same method and shape, whose scaling is kept; null: none.
  std::shared_ptr<const Model> start = {};
  SolverSettings solver = {};
  std::vector<double> row_weights = {};  // of labelled rows, >= 0, for methods that weigh them; empty: all 1
};

// The same with every parameter of the method filled in and checked.
struct MethodChoices {
  std::map<std::string, double> parameters;
  MethodLimits limits;
  std::uint64_t seed = 0;
  MethodSettings asked = {};

  double number(const std::string& name) const { return parameters.at(name); }
  int whole(const std::string& name) const { return static_cast<int>(parameters.at(name)); }
};

// What the predicted time of a fit depends on.
struct FitSize {
  double rows = 0, features = 0;
  double items = 0;  // of the supervision; 0: labels
  bool comparisons = false;
};

struct Method {
  std::string name;     // "itml"
  std::string summary;  // one line
  // Which supervision it can learn from.
  bool from_labels = false, from_pairs = false, from_targets = false, from_comparisons = false;
  std::vector<std::string> supervision() const;  // by its names: "labels", "pairs", ...
  bool needs_supervision = true;  // false: the supervision changes nothing; true: labels must have two classes
  std::vector<MethodParameter> parameters;
  MethodLimits limits;           // defaults; the time limit is set by each run
  double fold_tolerance = 1e-3;  // of fits on folds, unless the run's own is larger
  // Labels are turned into comparisons or pairs before it learns, and it can be tuned by the loss of held-out items.
  // plan() expects such a method to have the parameters of pbdl.
  bool learns_from_items = false;
  // Its run can be kept in checkpoints, go on from them, and end early: see SolverSettings. pbdl: by the solver admm.
  bool resumable = false;
  bool weighs_rows = false;  // labelled rows may have weights: MethodSettings::row_weights
  bool goes_on = false;      // can start from a model that it has learned before, see MethodSettings::start
  std::function<Learned(const MatrixView& rows, const MethodSupervision&, const MethodChoices&,
                        const RunControl&)>
      learn;  // called with checked rows, supervision and choices only
  // Processor seconds of one fit, roughly; empty: not known. Those of the classical methods were measured on tables of
  // 200 to 3200 rows with 5 and 30 features.
  std::function<double(const FitSize&, const MethodChoices&)> predicted_seconds = {};
  // Bytes that one fit needs; empty: not known.
  std::function<double(const FitSize&, const MethodChoices&)> predicted_memory = {};
  // Candidates that are cheaper to learn together; empty: each is learned by itself.
  std::function<CandidateFamilies(const FamilyOptions&)> families = {};

  // Throws Error that lists the names if it has no parameter of this name.
  const MethodParameter& parameter(std::string_view parameter_name) const;
};

const std::vector<Method>& all_methods();
// Throws Error that lists the names if there is no method of this name.
const Method& method_named(std::string_view name);

// rows: n x d, already scaled. Throws Error on a caller's mistake; a limit that was hit is a status in the report.
Learned learn_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const MethodSettings& settings = {}, const RunControl& control = {});

struct MethodFit {
  Model model;
  MethodReport report;
  std::optional<SolverRecord> proved = {};
};

// The same for unscaled rows, with all that a model file keeps.
MethodFit fit_with(const Method& method, const MatrixView& rows, const MethodSupervision& supervision,
                   const Scaling& scaling, const MethodSettings& settings = {}, const RunControl& control = {});

Scaling make_scaling(const MatrixView& rows, Scale scale);

// Every parameter and limit filled in. Throws Error on a value that is not allowed.
MethodChoices resolve(const Method& method, const MethodSettings& settings);

// What the families of a method are made from; every combination is a candidate.
struct FamilyOptions {
  const Method& method;
  MethodSettings settings;  // of the fits on folds, with their tolerance
  std::map<std::string, std::vector<double>> tried = {};
  std::vector<Scale> scales = {};
  std::vector<LabelSupervisionOptions> supervision = {};  // what folds make of labels; empty: folds have items
  // The total weight of the supervision that the final fit learns from.
  std::function<double(Scale scale, std::size_t supervision)> total_weight = {};
  double proof_tolerance = 1e-3;  // gap up to which the optimum of another candidate counts as optimal, too

  // The values of a parameter that are tried, or its only value.
  std::vector<double> values(const std::string& name) const;
};

}  // namespace bregmax
