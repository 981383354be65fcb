#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/fit_plan.hpp"
#include "options/input.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// What concerns the solver for large problems and long runs.
struct LargeScaleRequest {
  double memory_limit = 0;  // GB; 0: what the machine has
  std::string checkpoint, resume;
  double checkpoint_every = 60;
  bool early_stop = false;
  std::string precision = "double";
};

// What `bregmax fit` was asked to do.
struct FitRequest {
  std::string data;
  Layout layout;

  std::string method = "pbdl";
  std::vector<std::string> method_parameters;  // NAME=VALUE
  const CLI::App* command = nullptr;           // which options were given

  // Where supervision comes from; at most one is given. None: from labels, as the library recommends.
  std::string comparisons_file, pairs_file, targets_file;
  bool from_labels = false, all_pairs = false;
  std::uint64_t hard_neighbours = 0;  // 0: no hard comparisons
  std::uint64_t comparisons = 2000;
  bool comparisons_given = false;

  // A number, or to be chosen; not given: see plan_fit().
  FitWishes::Tunable lambda, smoothing, pieces;
  bool own_pieces = false;      // one a row, asked for
  bool theory_pieces = false;   // as many as Theorem 3 says; targets only
  std::string scale;            // empty: not given
  std::vector<double> lambdas;  // to try; empty: the library's
  std::string tune_for;         // empty: not given
  std::uint64_t folds = 3;
  std::uint64_t repeats = 0;  // 0: not given
  double lipschitz_bound = std::numeric_limits<double>::infinity();
  std::string solver = "auto";
  std::optional<double> tolerance;              // none: the solver's own
  std::optional<std::uint64_t> max_iterations;  // the same
  LargeScaleRequest large;
  double time_limit = 0;
  std::uint64_t threads = 0;
  std::uint64_t seed = 0;
  std::string out, picture;
  bool keep_partial = false;
  bool json = false;
};

void add_fit_options(CLI::App& command, FitRequest& request);

// The files that are read.
std::vector<NamedFile> input_files(const FitRequest& request);

// Mistakes that only show in the combination of options.
void check_request(const FitRequest& request);

// Options about choosing by cross-validation, where nothing is chosen, would have no effect.
void refuse_tuning_options(const FitRequest& request, const std::string& why);

// What is to be tried and tuned. `supervision`: given by a file; none: labels.
AutoFitOptions fit_plan(const FitRequest& request, const Table& table, const std::optional<Supervision>& supervision);

}  // namespace bregmax::app
