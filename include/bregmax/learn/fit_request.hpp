#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/tune.hpp"
#include "bregmax/methods/registry.hpp"
#include "bregmax/supervision/sample.hpp"

namespace bregmax {

// What the user asks of one parameter.
struct Wish {
  std::vector<double> values = {};  // one is taken, several are tried
  bool automatic = false;           // to be chosen by cross-validation
  std::vector<double> grid = {};    // that `automatic` tries; empty: the library's

  Wish() = default;
  Wish(double value) : values{value} {}  // NOLINT(google-explicit-constructor): request.parameters["lambda"] = 1
  explicit Wish(std::vector<double> several) : values(std::move(several)) {}
  static Wish choose(std::vector<double> grid = {});

  bool given() const { return automatic || !values.empty(); }
};

// What an interface calls the fields of a request, for messages: the program says --lambda 1, Python lam=1.
struct Names {
  std::string prefix = {};                          // "--": words are then joined by dashes
  std::map<std::string, std::string> renamed = {};  // by the field's own name
  std::string several_values = "a list of these";   // how several values of a parameter are given
  std::string labels = "labels";                    // where they come from
  std::string row_targets = "row_targets";          // the same of a number per row

  std::string operator()(const std::string& field) const;
  std::string with(const std::string& field, const std::string& value) const;
};

// The sizes at which plan() changes its decisions. Tests lower them.
struct PlanThresholds {
  double all_pairs_rows = 1500;     // up to this many rows, labels become all pairs; beyond, 2000 comparisons
  double own_pieces_rows = 20'000;  // up to this many rows, each has a piece; beyond, a few numbers of pieces are tried
  double tuning_rows = 5000;        // on larger tables tuning uses this many rows, drawn at random,
  double tuning_comparisons = 10'000;  // and at most this many comparisons from labels per fold
  double three_repeats_rows = 200;     // up to this many rows there are three cross-validations,
  double two_repeats_rows = 400;       // up to this many two: one division of a small table says little
  double exact_seconds = 600;          // predicted time of the exact solver, beyond which `auto` takes the other one
  double fold_seconds = 60;            // the same on a fold
  double auto_pbdl_seconds = 4;        // predicted time of pbdl's cross-validation, beyond which `auto` leaves it out
};
// Parses "all_pairs_rows=10,exact_seconds=0"; other fields keep their defaults. Throws Error that lists the fields. The
// program and the Python module take the text from the environment variable kThresholdsVariable.
PlanThresholds parse_thresholds(const std::string& text);
inline constexpr const char* kThresholdsVariable = "BREGMAX_TEST_THRESHOLDS";

// What the user asks of a fit. Everything is optional; plan() fills in what is missing.
struct FitRequest {
  std::string method = "auto";                     // one of all_methods(), or "auto": chosen by cross-validation
  std::vector<std::string> candidates = {};        // auto: the methods that compete; empty: automatic_methods()
  std::map<std::string, Wish> parameters = {};     // of the method, by name
  bool theory_pieces = false;                      // pbdl: the number of pieces of Theorem 3, for targets
  std::optional<std::vector<int>> piece_of = {};   // pbdl: the piece of each row; overrides `pieces`
  std::vector<Scale> scales = {};                  // to choose from
  std::vector<LabelSupervision> supervision = {};  // what labels become, to choose from
  std::optional<Index> comparisons = {};           // number to draw from labels, or of hard ones to keep
  std::optional<Index> hard_neighbours = {};       // of hard comparisons
  bool directed_pairs = false;                     // given pairs say something about D(i, j) only, not about D(j, i)
  std::optional<Measure> tune_for = {};
  std::optional<int> folds = {}, repeats = {};
  std::optional<double> tolerance = {};
  std::optional<int> max_iterations = {};
  double time_limit = 0;  // seconds, of tuning and the final fit together; 0: none
  // To go on from: a model of smooth or deep. Its method and scaling are kept, and its parameters where none are given;
  // what they fix about its shape cannot change. Nothing is tuned.
  std::shared_ptr<const Model> start = {};
  std::uint64_t seed = 0;
  // plan() replaces exact_seconds and fold_seconds by those of `thresholds`, and a memory_limit of 0 by the machine's.
  SolverSettings solver = {};
  PlanThresholds thresholds = {};
  Names names = {};
};

// Unscaled rows, of which this is only a view, and their supervision.
struct TrainingData {
  MatrixView rows;
  MethodSupervision supervision;
  // Of labelled rows, >= 0, for smooth and deep: how much the loss of each row counts. Empty: all 1.
  std::vector<double> row_weights = {};
  // A number per row, in place of `supervision`: plan() and run() then make targets of pairs from the differences.
  Vector row_targets = {};

  bool labelled() const { return std::holds_alternative<ClassOfRow>(supervision) && !has_row_targets(); }
  bool has_row_targets() const { return row_targets.size() > 0; }
};

// The methods that `auto` chooses from, from the simplest to the most complex.
std::vector<std::string> automatic_methods();

// "standard", "none", or "auto" for both of them. Throws Error that lists them.
std::vector<Scale> scales_named(const std::string& name);

}  // namespace bregmax
