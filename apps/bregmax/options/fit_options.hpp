#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bregmax/learn/plan.hpp"
#include "options/input.hpp"
#include "reports/output.hpp"

namespace bregmax::app {

// What `bregmax fit` was asked to do.
struct FitCommand {
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

  std::string scale, tune_for;  // empty: not given
  std::uint64_t folds = 3;
  std::uint64_t repeats = 0;  // 0: not given
  double lipschitz_bound = std::numeric_limits<double>::infinity();
  std::string solver = "auto", precision = "double";
  double memory_limit = 0;  // GB
  std::uint64_t threads = 0;
  // Filled in by the options that have its types, and by complete_request().
  FitRequest request;
  std::string out, picture;
  bool keep_partial = false;
  bool json = false;
};

void add_fit_options(CLI::App& command, FitCommand& fit);

// The files that are read.
std::vector<NamedFile> input_files(const FitCommand& fit);

// The whole request, with the names of the options for messages. Throws Error on options that do not go together.
FitRequest complete_request(const FitCommand& fit);

// Options about choosing by cross-validation would have no effect where nothing is chosen.
void refuse_idle_tuning_options(const FitCommand& fit, const Plan& plan);

}  // namespace bregmax::app
