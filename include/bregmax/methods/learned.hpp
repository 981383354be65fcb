#pragma once

// What all methods have in common. Each method is a file in src/methods; bregmax/methods/registry.hpp has all of them
// by name.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bregmax/core/run_control.hpp"
#include "bregmax/core/status.hpp"
#include "bregmax/core/supervision.hpp"
#include "bregmax/divergence/divergence.hpp"
#include "bregmax/optimize/certificate.hpp"

namespace bregmax {

enum class Scale { kNone, kStandard };
std::string to_string(Scale scale);  // "none", "standard"

// Under every status all fields describe the divergence that is returned, the best one that the run has seen. For
// methods without a proof only objective (their own, which they minimise) and stationarity have a meaning.
struct MethodReport : SolveReport {
  double stationarity = 0;  // the method's own measure of distance from an optimum, 0 at one; see docs/methods.md
};

// What a method with a proved bound on its objective reports in addition.
struct SolverRecord {
  Certificate certificate;         // recomputed from the data
  std::string solver;              // "exact" or "admm"
  std::string solver_reason = {};  // why it was chosen; empty where the caller chose it
  double tolerance = 0;            // of this solver, on the relative gap
  double lambda = 0, lipschitz_bound = 0;
  Index items = 0;  // that were learned from
  // The loss of the items under the model as it is applied. It differs from the report's where rows at one location had
  // different pieces in the fit, or pieces tie at a row, or the model is smoothed. Missing for over 3000 rows.
  std::optional<double> applied_loss = {};
  bool constant = false;  // the divergence does not tell the rows apart
};

struct Learned {
  std::shared_ptr<const Divergence> divergence;
  MethodReport report;
  std::optional<SolverRecord> proved = {};
};

// When a method ends. It has converged when its stationarity, or its proved gap, is at most `tolerance`.
struct MethodLimits {
  double tolerance = 1e-6;    // > 0
  int max_iterations = 1000;  // >= 1
  double time_limit = 0;      // seconds, >= 0; 0: none
};

using ClassOfRow = std::vector<int>;

// What a method learns from: the classes of the rows, or items (pairs, targets, comparisons).
using MethodSupervision = std::variant<ClassOfRow, Pairs, Targets, Comparisons, LabelPairs>;

std::string supervision_name(const MethodSupervision& supervision);  // "labels", "pairs", "targets", "comparisons"
Index item_count(const MethodSupervision& supervision);
// Throws Error on labels, which are not items.
Supervision items_of(const MethodSupervision& supervision);
MethodSupervision as_method_supervision(Supervision items);

}  // namespace bregmax
