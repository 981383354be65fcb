#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "bregmax/learn/fit.hpp"
#include "input.hpp"

namespace bregmax::app {

// What `bregmax fit` was asked to do.
struct FitRequest {
  std::string data;
  Layout layout;

  std::string method = "pbdl";
  std::vector<std::string> method_parameters;  // NAME=VALUE
  const CLI::App* command = nullptr;           // which options were given

  // Where supervision comes from; at most one is given. None: comparisons from labels.
  std::string comparisons_file, pairs_file, targets_file;
  bool from_labels = false, all_pairs = false;
  std::uint64_t comparisons = 2000;
  bool comparisons_given = false;

  std::optional<double> lambda;  // none: 0 for targets, 1 otherwise
  std::uint64_t pieces = 0;      // 0: all
  double lipschitz_bound = std::numeric_limits<double>::infinity();
  std::string solver = "auto";
  std::string scale = "standard";
  double smoothing = 0;
  double tolerance = 1e-8;
  std::uint64_t max_iterations = 200;
  double time_limit = 0;
  std::uint64_t threads = 0;
  std::uint64_t seed = 0;
  std::string out;
  bool keep_partial = false;
  bool json = false;
};

void add_fit_options(CLI::App& command, FitRequest& request);

// Mistakes that only show in the combination of options.
void check_request(const FitRequest& request);

FitOptions fit_options(const FitRequest& request, const Table& table, const Supervision& supervision);

}  // namespace bregmax::app
