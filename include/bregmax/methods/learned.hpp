#pragma once

// What the classical methods of metric learning have in common. Each method has a header of its own in this folder with
// its options and one function that learns; bregmax/methods/registry.hpp has all of them by name.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/status.hpp"
#include "bregmax/core/supervision.hpp"
#include "bregmax/divergence/divergence.hpp"

namespace bregmax {

// Under every status all fields describe the divergence that is returned, the best one that the run has seen.
struct MethodReport {
  Status status = Status::kNumericalError;
  int iterations = 0;
  double objective = 0;     // the method's own, to be made small
  double stationarity = 0;  // the method's own measure of distance from an optimum, 0 at one; see its header
  double seconds = 0;
};

struct Learned {
  std::shared_ptr<const Divergence> divergence;
  MethodReport report;
};

// When a method ends. It has converged when its stationarity is at most `tolerance`.
struct MethodLimits {
  double tolerance = 1e-6;    // > 0
  int max_iterations = 1000;  // >= 1
  double time_limit = 0;      // seconds, >= 0; 0: none
};

using ClassOfRow = std::vector<int>;

// What a method learns from: the classes of the rows, or what was said about pairs of them.
using MethodSupervision = std::variant<ClassOfRow, Pairs, Targets>;

}  // namespace bregmax
